import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { AskDns, DnsAnswer } from './ask-dns.ts';
import { createNames } from './names.ts';

const folder = mkdtempSync(join(tmpdir(), 'names-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Names whose DNS is a script: each question takes the next answer, the last one again and again. */
function namesWith(...script: (DnsAnswer | Promise<DnsAnswer>)[]) {
  const questions: string[] = [];
  let nowMs = 0;
  const ask: AskDns = async (name) => {
    questions.push(name);
    return (script.length > 1 ? script.shift() : script[0]) as DnsAnswer;
  };
  const names = createNames({
    ask,
    hostsPath: join(folder, 'none'),
    monotonicMs: () => nowMs,
    mostEntries: 100,
  });
  return {
    questions,
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
  test('is kept for its TTL, at least a second and at most five minutes', async () => {
    for (const [ttl, keptMs] of [
      [60, 60_000],
      [0, 1_000],
      [86_400, 300_000],
    ] as const) {
      const { resolve, questions, wait } = namesWith(found('192.0.2.1', ttl), found('192.0.2.2'));
      await resolve('a.example');
      wait(keptMs - 1);
      expect(await resolve('a.example')).toEqual({ kind: 'found', addresses: ['192.0.2.1'] });
      wait(1);
      expect(await resolve('a.example')).toEqual({ kind: 'found', addresses: ['192.0.2.2'] });
      expect(questions).toHaveLength(2);
    }
  });

  test('is kept for a number of names that is bounded', async () => {
    const { resolve, questions } = namesWith(found('192.0.2.1'));
    for (let i = 0; i <= 100; i++) await resolve(`${i}.example`);
    await resolve('100.example');
    expect(questions).toHaveLength(101);
    await resolve('0.example');
    expect(questions).toHaveLength(102);
  });

  test('is asked for once by all who want it at the same time, of whatever account', async () => {
    let answer: (found: DnsAnswer) => void = () => {};
    const { resolve, questions } = namesWith(new Promise((settle) => (answer = settle)));
    const all = ['one', 'two', 'three'].map((account) => resolve('a.example', account));
    await expect.poll(() => questions.length).toBe(1);
    answer(found('192.0.2.1'));
    expect(await Promise.all(all)).toEqual(Array(3).fill({ kind: 'found', addresses: ['192.0.2.1'] }));
    expect(questions).toHaveLength(1);
  });
});

describe('a failure', () => {
  test('of the name is its own, in words, and is remembered for a moment', async () => {
    for (const [answer, error] of [
      [{ kind: 'absent' }, 'host name not found'],
      [{ kind: 'silent' }, 'host name look-up timed out'],
      [{ kind: 'failed', code: 'ESERVFAIL' }, 'host name look-up failed (ESERVFAIL)'],
    ] as const) {
      const { resolve, questions, wait } = namesWith(answer);
      expect(await resolve('a.example')).toEqual({ kind: 'failed', error });
      await resolve('a.example');
      expect(questions).toHaveLength(1);
      wait(5_000);
      await resolve('a.example');
      expect(questions).toHaveLength(2);
    }
  });

  test('of our own is nobody’s, and is not remembered', async () => {
    const { resolve, questions } = namesWith({ kind: 'ours', code: 'ECONNREFUSED' });
    expect(await resolve('a.example')).toMatchObject({ kind: 'unasked', isFault: true });
    expect(await resolve('a.example')).toMatchObject({ kind: 'unasked', isFault: true });
    expect(questions).toHaveLength(2);
  });

  test('to refresh leaves the last addresses in use for ten minutes, unless the name is gone', async () => {
    for (const answer of [{ kind: 'silent' }, { kind: 'ours', code: 'ECONNREFUSED' }] as const) {
      const { resolve, wait } = namesWith(found('192.0.2.1'), answer);
      await resolve('a.example');
      wait(599_999);
      expect(await resolve('a.example')).toEqual({ kind: 'found', addresses: ['192.0.2.1'] });
      wait(5_001);
      expect(await resolve('a.example')).not.toMatchObject({ kind: 'found' });
    }
    const { resolve, wait } = namesWith(found('192.0.2.1'), { kind: 'absent' });
    await resolve('a.example');
    wait(60_000);
    expect(await resolve('a.example')).toEqual({ kind: 'failed', error: 'host name not found' });
  });
});

test('an account has 16 look-ups under way; what finds no slot is not asked, and fails nobody', async () => {
  const { resolve, questions } = namesWith(new Promise(() => {}));
  const all = Array.from({ length: 16 + 64 + 1 }, (_, i) => resolve(`${i}.example`, 'busy'));
  expect(await all.at(-1)).toMatchObject({ kind: 'unasked', isFault: false });
  expect(questions).toHaveLength(16);
  all.push(resolve('other.example', 'other'));
  await expect.poll(() => questions.length).toBe(17);
  // Those that wait are turned away in time.
  expect(await all.at(-3)).toMatchObject({ kind: 'unasked', isFault: false });
});

test('literals and localhost names are never asked for', async () => {
  const { resolve, questions } = namesWith({ kind: 'absent' });
  expect(await resolve('192.0.2.7')).toEqual({ kind: 'found', addresses: ['192.0.2.7'] });
  expect(await resolve('2001:db8::7')).toEqual({ kind: 'found', addresses: ['2001:db8::7'] });
  for (const name of ['localhost', 'localhost.', 'app.localhost']) {
    expect(await resolve(name)).toEqual({ kind: 'found', addresses: ['127.0.0.1', '::1'] });
  }
  expect(questions).toEqual([]);
});

test('the hosts file comes before DNS, and a change of it is noticed', async () => {
  const hostsPath = join(folder, 'hosts');
  writeFileSync(
    hostsPath,
    '# comment\n10.1.0.7 Receiver.internal receiver # here\n10.1.0.8\treceiver\nbroken line\n',
  );
  const names = createNames({ hostsPath, ask: async () => ({ kind: 'absent' }) });
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
