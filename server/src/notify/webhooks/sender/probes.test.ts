import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { type Keyring, UnreadableSecret } from '../../../platform/secrets/keyring.ts';
import { signingSecretPlace } from '../../../platform/secrets/sealed-places.ts';
import type { Resolved } from '../names/names.ts';
import { createProbes } from './probes.ts';

function probesWith(overrides: Partial<Parameters<typeof createProbes>[0]>) {
  const probes = createProbes({
    clock: { nowMs: () => 0 },
    keyring: {} as Keyring,
    log: { info: () => {}, warn: () => {} },
    dispatcherOf: () => {
      throw new Error('nothing is sent');
    },
    names: { resolve: () => ({ kind: 'found', addresses: ['192.0.2.1'] }) },
    mayShowResponse: () => false,
    userAgent: 'Simplane/test',
    timeoutMs: 1_000,
    ...overrides,
  });
  const send = (account: number, secrets = '') => {
    const ids = { account_id: `00000000-0000-7000-8000-${String(account).padStart(12, '0')}` };
    const endpoint = { endpoint_id: ids.account_id, event_id: ids.account_id };
    return probes.send({
      ...ids,
      ...endpoint,
      url: 'https://a.example/',
      is_test: true,
      body: '{}',
      secrets,
    });
  };
  return { send, stop: probes.stop };
}

/** Probes of hosts whose names are resolved when the test says so. */
function hangingProbes() {
  const waiting: ((resolved: Resolved) => void)[] = [];
  const { send } = probesWith({
    names: { resolve: () => new Promise((resolve) => waiting.push(resolve)) },
  });
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

test('a test request that a stopping process cuts off says nothing about the endpoint', async () => {
  const dispatcher = { dispatch: () => true } as unknown as Dispatcher;
  const { send, stop } = probesWith({ dispatcherOf: () => dispatcher, timeoutMs: 60_000 });
  const sending = send(1);
  stop();
  expect(await sending).toEqual({ unsent: 'stopping', isFault: false });
});

test('a test request whose signing secret cannot be opened is not sent, for no fault of the endpoint', async () => {
  const place = signingSecretPlace('account', 'endpoint', 'secret');
  const open = () => Promise.reject(new UnreadableSecret(place, null, 'its key is missing'));
  const { send } = probesWith({ keyring: { open } as unknown as Keyring });
  expect(await send(1, 'id:sealed')).toMatchObject({ isFault: true });
});

test('a test request that fails for a reason of ours frees its place', async () => {
  const names = { resolve: () => Promise.reject(new Error('a defect')) };
  const { send } = probesWith({ names });
  for (let count = 0; count < 5; count++) await expect(send(1)).rejects.toThrow('a defect');
});
