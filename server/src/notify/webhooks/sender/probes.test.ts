import { expect, test } from 'vitest';
import type { Keyring } from '../../../platform/secrets/keyring.ts';
import type { Resolved } from '../names/names.ts';
import { createProbes } from './probes.ts';

/** Probes of hosts whose names are resolved when the test says so. */
function hangingProbes() {
  const waiting: ((resolved: Resolved) => void)[] = [];
  const probes = createProbes({
    clock: { nowMs: () => 0 },
    keyring: {} as Keyring,
    log: { info: () => {}, warn: () => {} },
    dispatcherOf: () => {
      throw new Error('nothing is sent');
    },
    names: { resolve: () => new Promise((resolve) => waiting.push(resolve)) },
    mayShowResponse: () => false,
    userAgent: 'Simplane/test',
    timeoutMs: 1_000,
  });
  const send = (account: number) => {
    const ids = { account_id: `00000000-0000-7000-8000-${String(account).padStart(12, '0')}` };
    const endpoint = { endpoint_id: ids.account_id, event_id: ids.account_id };
    return probes.send({
      ...ids,
      ...endpoint,
      url: 'https://a.example/',
      is_test: true,
      body: '{}',
      secrets: '',
    });
  };
  const endAll = () => {
    for (const end of waiting.splice(0)) end({ kind: 'failed', error: 'not found' });
  };
  return { send, endAll };
}

test('an account runs four test requests at once, all accounts together 32', async () => {
  const { send, endAll } = hangingProbes();
  const running: Promise<unknown>[] = [];
  for (let account = 0; account < 8; account++) {
    for (let count = 0; count < 4; count++) running.push(send(account));
    if (account === 0) expect(await Promise.race([send(0), Promise.resolve('running')])).toBe('busy');
  }
  expect(await Promise.race([send(9), Promise.resolve('running')])).toBe('busy');
  endAll();
  await Promise.all(running);
  const next = send(9);
  endAll();
  expect(await next).toMatchObject({ ok: false, error: 'not found' });
});
