import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AskDns, DnsAnswer } from './ask-dns.ts';
import { createNames, type Resolved } from './names.ts';
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

  test('of the name that was looked up longest ago is dropped first', async () => {
    const { resolve, queries, wait } = namesWith(found('192.0.2.1'));
    for (let i = 0; i < 100; i++) await resolve(`${i}.example`);
    wait(60_000);
    await resolve('0.example');
    await resolve('100.example');
    queries.length = 0;
    await resolve('0.example');
    expect(queries).toEqual([]);
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

  test.each([
    ['ESERVFAIL', 'its DNS server reports a failure'],
    ['EREFUSED', 'its DNS server refuses to answer'],
    ['too many addresses', 'too many addresses'],
    ['EBADRESP', 'its DNS server gave no usable answer'],
  ])('%s is told in words', async (code, words) => {
    const { resolve } = namesWith({ kind: 'failed', code });
    expect(await resolve('a.example')).toEqual({
      kind: 'failed',
      error: `host name look-up failed: ${words}`,
    });
  });

  test('on our side is a fault and is not cached', async () => {
    const { resolve, queries } = namesWith({ kind: 'unreachable', code: 'ECONNREFUSED' });
    expect(await resolve('a.example')).toMatchObject({ kind: 'unknown', isFault: true });
    expect(await resolve('a.example')).toMatchObject({ kind: 'unknown', isFault: true });
    expect(queries).toHaveLength(2);
  });

  test('to ask at all is a fault on our side, too', async () => {
    const ask = () => Promise.reject(Object.assign(new Error('no descriptor'), { code: 'EMFILE' }));
    const names = createNames({ ask, hostsPath: join(folder, 'none') });
    expect(await names.resolve('account', 'a.example')).toMatchObject({ kind: 'unknown', isFault: true });
  });

  test('to refresh keeps the last addresses in use for ten minutes, unless the name no longer exists', async () => {
    for (const answer of [
      { kind: 'timeout' },
      { kind: 'failed', code: 'ESERVFAIL' },
      { kind: 'unreachable', code: 'ECONNREFUSED' },
    ] as const) {
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

describe('an account with 16 look-ups that hang', () => {
  // A look-up waits for its slot as long as the test takes.
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  const pending = () => new Promise((resolve) => setImmediate(resolve));

  /** The answers that have come so far. */
  function comingFrom(lookUps: Promise<Resolved>[]): Resolved[] {
    const answers: Resolved[] = [];
    for (const lookUp of lookUps) lookUp.then((answer) => answers.push(answer)).catch(() => {});
    return answers;
  }

  /** Names whose queries wait for their answer from the test; these are known and have to be asked for again. */
  async function hangingNames(...known: string[]) {
    const queries: { name: string; answer(given: DnsAnswer): void }[] = [];
    let nowMs = 0;
    let isHanging = false;
    const ask: AskDns = async (name) =>
      isHanging ? new Promise((answer) => queries.push({ name, answer })) : found('192.0.2.1');
    const names = createNames({ ask, hostsPath: join(folder, 'none'), monotonicMs: () => nowMs });
    const resolve = async (hostname: string, account = 'busy') => names.resolve(account, hostname);
    for (const name of known) await resolve(name);
    nowMs += 60_000;
    isHanging = true;
    const hang = async (count: number, account = 'busy') => {
      const all = Array.from({ length: count }, (_, n) => resolve(`${account}-${n}.example`, account));
      await pending();
      return { last: () => all.at(-1) };
    };
    const asked = () => queries.map(({ name }) => name);
    const pass = (ms: number) => {
      nowMs += ms;
    };
    return { resolve, hang, queries, asked, pass };
  }

  test('sends its deliveries to a known name at the last address', async () => {
    const { resolve, hang, queries } = await hangingNames('good.example');
    await hang(16 + 64);
    expect(queries).toHaveLength(16);
    expect(await resolve('good.example')).toEqual({ kind: 'found', addresses: ['192.0.2.1'] });
  });

  test('shares the look-up of another account at once, without a slot', async () => {
    const { resolve, hang, queries } = await hangingNames();
    await hang(16);
    const both = [resolve('good.example', 'other')];
    await pending();
    both.push(resolve('good.example'));
    const answers = comingFrom(both);
    queries.at(-1)?.answer(found('192.0.2.2'));
    await pending();
    expect(answers).toEqual(Array(2).fill({ kind: 'found', addresses: ['192.0.2.2'] }));
  });

  test('asks for a name once that another such account waits for, too', async () => {
    const { resolve, hang, queries, asked } = await hangingNames();
    for (const account of ['busy', 'other']) await hang(16, account);
    const waiting = [resolve('good.example'), resolve('good.example', 'other')];
    await pending();
    for (const { answer } of [...queries]) answer({ kind: 'not_found' });
    await pending();
    expect(asked().slice(32)).toEqual(['good.example']);
    queries.at(-1)?.answer(found('192.0.2.2'));
    expect(await Promise.all(waiting)).toEqual(Array(2).fill({ kind: 'found', addresses: ['192.0.2.2'] }));
  });

  test('does not ask for what another account has learned meanwhile', async () => {
    const { resolve, hang, queries, asked } = await hangingNames();
    await hang(16);
    const answers = comingFrom([resolve('good.example')]);
    await pending();
    const other = resolve('good.example', 'other');
    await pending();
    expect(asked().slice(16)).toEqual(['good.example']);
    queries.at(-1)?.answer(found('192.0.2.2'));
    await other;
    queries[0]?.answer({ kind: 'not_found' });
    await pending();
    expect([answers, asked().length]).toEqual([[{ kind: 'found', addresses: ['192.0.2.2'] }], 17]);
  });

  test('has half of its slots for other names, once these are known to hang', async () => {
    const { resolve, hang, queries, asked, pass } = await hangingNames();
    await hang(16);
    for (const { answer } of queries.splice(0)) answer({ kind: 'timeout' });
    await pending();
    pass(5_000);
    const again = await hang(16);
    expect(asked()).toHaveLength(8);
    expect(await again.last()).toMatchObject({ kind: 'unknown', isFault: false });
    resolve('good.example').catch(() => {});
    await pending();
    expect(asked().at(-1)).toBe('good.example');
  });
});

test('any number of deliveries to one name take one slot', async () => {
  let answer: (found: DnsAnswer) => void = () => {};
  const { resolve, queries } = namesWith(new Promise((settle) => (answer = settle)));
  const all = Array.from({ length: 200 }, () => resolve('a.example'));
  for (let n = 1; n < 16; n++) all.push(resolve(`${n}.example`));
  await new Promise((resolve) => setImmediate(resolve));
  expect(queries).toHaveLength(16);
  answer(found('192.0.2.1'));
  expect(new Set((await Promise.all(all)).map(({ kind }) => kind))).toEqual(new Set(['found']));
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
  for (const none of ['line', 'here']) expect(await resolve(none)).toMatchObject({ kind: 'failed' });
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
