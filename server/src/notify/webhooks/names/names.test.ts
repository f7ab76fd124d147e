import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { AskDns, DnsAnswer } from './ask-dns.ts';
import { createNames } from './names.ts';
import { watchedFile } from './resolver-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'names-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names with scripted DNS: each query gets the next answer; the last one repeats. */
function namesWith(...script: (DnsAnswer | Promise<DnsAnswer>)[]) {
  const queries: string[] = [];
  let nowMs = 0;
  const ask: AskDns = async (name) => {
    queries.push(name);
    return (script.length > 1 ? script.shift() : script[0]) as DnsAnswer;
  };
  const names = createNames({
    ask,
    hostsPath: join(folder, 'none'),
    monotonicMs: () => nowMs,
    maxEntries: 100,
  });
  return {
    queries,
    wait: (ms: number) => {
      nowMs += ms;
    },
    resolve: async (hostname: string, account = 'account') => names.resolve(account, hostname),
  };
}

const found = (address: string, ttlSeconds = 60): DnsAnswer => ({
  kind: 'found',
  addresses: [address],
  ttlSeconds,
});

describe('an answer', () => {
  test('is cached for its TTL, at least a second and at most five minutes', async () => {
    for (const [ttl, cachedMs] of [
      [60, 60_000],
      [0, 1_000],
      [86_400, 300_000],
    ] as const) {
      const { resolve, queries, wait } = namesWith(found('192.0.2.1', ttl), found('192.0.2.2'));
      await resolve('a.example');
      wait(cachedMs - 1);
      expect(await resolve('a.example')).toEqual({ kind: 'found', addresses: ['192.0.2.1'] });
      wait(1);
      expect(await resolve('a.example')).toEqual({ kind: 'found', addresses: ['192.0.2.2'] });
      expect(queries).toHaveLength(2);
    }
  });

  test('is cached for a limited number of names', async () => {
    const { resolve, queries } = namesWith(found('192.0.2.1'));
    for (let i = 0; i <= 100; i++) await resolve(`${i}.example`);
    await resolve('100.example');
    expect(queries).toHaveLength(101);
    await resolve('0.example');
    expect(queries).toHaveLength(102);
  });

  test('is queried once for concurrent look-ups, across accounts', async () => {
    let answer: (found: DnsAnswer) => void = () => {};
    const { resolve, queries } = namesWith(new Promise((settle) => (answer = settle)));
    const all = ['one', 'two', 'three'].map((account) => resolve('a.example', account));
    await expect.poll(() => queries.length).toBe(1);
    answer(found('192.0.2.1'));
    expect(await Promise.all(all)).toEqual(Array(3).fill({ kind: 'found', addresses: ['192.0.2.1'] }));
    expect(queries).toHaveLength(1);
  });
});

describe('a failure', () => {
  test('of the name has an error message and is cached for five seconds', async () => {
    for (const [answer, error] of [
      [{ kind: 'not_found' }, 'host name not found'],
      [{ kind: 'timeout' }, 'host name look-up timed out'],
      [{ kind: 'failed', code: 'ESERVFAIL' }, 'host name look-up failed: its DNS server reports a failure'],
      [
        { kind: 'failed', code: 'EBADRESP' },
        'host name look-up failed: its DNS server gave no usable answer',
      ],
    ] as const) {
      const { resolve, queries, wait } = namesWith(answer);
      expect(await resolve('a.example')).toEqual({ kind: 'failed', error });
      await resolve('a.example');
      expect(queries).toHaveLength(1);
      wait(5_000);
      await resolve('a.example');
      expect(queries).toHaveLength(2);
    }
  });

  test('on our side is a fault and is not cached', async () => {
    const { resolve, queries } = namesWith({ kind: 'unreachable', code: 'ECONNREFUSED' });
    expect(await resolve('a.example')).toMatchObject({ kind: 'unknown', isFault: true });
    expect(await resolve('a.example')).toMatchObject({ kind: 'unknown', isFault: true });
    expect(queries).toHaveLength(2);
  });

  test('to refresh keeps the last addresses in use for ten minutes, unless the name no longer exists', async () => {
    for (const answer of [{ kind: 'timeout' }, { kind: 'unreachable', code: 'ECONNREFUSED' }] as const) {
      const { resolve, wait } = namesWith(found('192.0.2.1'), answer);
      await resolve('a.example');
      wait(599_999);
      expect(await resolve('a.example')).toEqual({ kind: 'found', addresses: ['192.0.2.1'] });
      wait(5_001);
      expect(await resolve('a.example')).not.toMatchObject({ kind: 'found' });
    }
    const { resolve, wait } = namesWith(found('192.0.2.1'), { kind: 'not_found' }, { kind: 'timeout' });
    await resolve('a.example');
    wait(60_000);
    expect(await resolve('a.example')).toEqual({ kind: 'failed', error: 'host name not found' });
    wait(5_000);
    // Nor does a later failure bring the old address back.
    expect(await resolve('a.example')).toEqual({ kind: 'failed', error: 'host name look-up timed out' });
  });
});

test('an account runs 16 look-ups at once; a look-up without a slot is not sent and is no failure', async () => {
  const { resolve, queries } = namesWith(new Promise(() => {}));
  const all = Array.from({ length: 16 + 64 + 1 }, (_, i) => resolve(`${i}.example`, 'busy'));
  expect(await all.at(-1)).toMatchObject({ kind: 'unknown', isFault: false });
  expect(queries).toHaveLength(16);
  all.push(resolve('other.example', 'other'));
  await expect.poll(() => queries.length).toBe(17);
  // Waiting look-ups time out.
  expect(await all.at(-3)).toMatchObject({ kind: 'unknown', isFault: false });
});

test('literals and localhost names are never queried', async () => {
  const { resolve, queries } = namesWith({ kind: 'not_found' });
  expect(await resolve('192.0.2.7')).toEqual({ kind: 'found', addresses: ['192.0.2.7'] });
  expect(await resolve('2001:db8::7')).toEqual({ kind: 'found', addresses: ['2001:db8::7'] });
  for (const name of ['localhost', 'localhost.', 'app.localhost']) {
    expect(await resolve(name)).toEqual({ kind: 'found', addresses: ['127.0.0.1', '::1'] });
  }
  expect(queries).toEqual([]);
});

test('the hosts file comes before DNS, and its changes take effect', async () => {
  const hostsPath = join(folder, 'hosts');
  writeFileSync(
    hostsPath,
    '# comment\n10.1.0.7 Receiver.internal receiver # here\n10.1.0.8\treceiver\nbroken line\n',
  );
  const names = createNames({ hostsPath, ask: async () => ({ kind: 'not_found' }) });
  const resolve = async (name: string) => names.resolve('account', name);
  expect(await resolve('receiver')).toEqual({ kind: 'found', addresses: ['10.1.0.7', '10.1.0.8'] });
  expect(await resolve('receiver.internal.')).toEqual({ kind: 'found', addresses: ['10.1.0.7'] });
  expect(await resolve('line')).toMatchObject({ kind: 'failed' });
  writeFileSync(hostsPath, '10.1.0.9 receiver\n');
  utimesSync(hostsPath, 1, 1);
  await expect
    .poll(() => resolve('receiver'), { timeout: 10_000 })
    .toEqual({ kind: 'found', addresses: ['10.1.0.9'] });
});

test('a hosts file that changed without changing its size is read again', () => {
  const path = join(folder, 'same-size');
  let nowMs = 0;
  const file = watchedFile({ path, parse: (text) => text, monotonicMs: () => nowMs });
  const write = (text: string, atSeconds: number) => {
    writeFileSync(path, text);
    utimesSync(path, atSeconds, atSeconds);
  };
  write('10.1.0.7 a', 1);
  expect(file()).toBe('10.1.0.7 a');
  write('10.1.0.8 a', 2);
  nowMs = 1_000;
  expect(file()).toBe('10.1.0.8 a');
});
