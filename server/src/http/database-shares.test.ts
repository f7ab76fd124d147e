import { afterEach, expect, test, vi } from 'vitest';
import type { KnownKey } from '../accounts/key-directory.ts';
import type { AppError } from '../platform/app-error.ts';
import type { Database } from '../platform/db/database.ts';
import { createDatabaseShares } from './database-shares.ts';

const quarter = 4;

afterEach(() => void vi.useRealTimers());

function start() {
  let running = 0;
  const ends: (() => void)[] = [];
  const hold = () => {
    running += 1;
    return new Promise<void>((resolve) => void ends.push(resolve));
  };
  const pool = { options: { max: 4 * quarter } };
  const db = { pool, query: hold, queryWithin: hold, transaction: hold } as unknown as Database;
  /** Ends all that runs, and what then starts. */
  async function end(): Promise<void> {
    for (let one = ends.shift(); one; one = ends.shift()) {
      one();
      await new Promise(setImmediate);
    }
  }
  return { db, shares: createDatabaseShares(db), running: () => running, end };
}

const callerOf = (account: string | null, key: string) =>
  ({ account: account === null ? null : { uuid: account }, apiKey: { uuid: key } }) as KnownKey;
const [attacker, otherKey, honest, operator] = [
  callerOf('a', 'key_1'),
  callerOf('a', 'key_2'),
  callerOf('b', 'key_3'),
  callerOf(null, 'key_4'),
];
const statement = { name: 'test', text: '' };
const kinds: Record<string, (db: Database) => Promise<unknown>> = {
  query: (db) => db.query(statement),
  queryWithin: (db) => db.queryWithin(2_000, statement),
  transaction: (db) => db.transaction(async () => {}),
};
const run = (db: Database) => Object.values(kinds).map((ask) => ask(db));

test.each(['readsOf', 'writesOf'] as const)(
  'all that the keys of one account do with %s has a quarter of the connections, and the rest of the half is for others',
  async (half) => {
    const { shares, running, end } = start();
    const work = [attacker, otherKey, attacker, otherKey].flatMap((caller) => run(shares[half](caller)));
    expect(running()).toBe(quarter);
    work.push(...run(shares[half](honest)));
    work.push(...run(shares[half](operator)));
    expect(running()).toBe(quarter + 3);
    work.push(...run(shares[half](attacker)));
    expect(running()).toBe(quarter + 3);
    await Promise.all([...work, end()]);
    expect(running()).toBe(work.length);
  },
);

test.each(Object.entries(kinds))('%s of an account waits for its turn', async (_, ask) => {
  const { shares, running, end } = start();
  const work = Array.from({ length: quarter + 1 }, () => ask(shares.readsOf(attacker)));
  expect(running()).toBe(quarter);
  await Promise.all([...work, end()]);
  expect(running()).toBe(quarter + 1);
});

test('writes do not wait for reads', async () => {
  const { shares, running, end } = start();
  const reads = [attacker, honest, operator].flatMap((caller) =>
    Array.from({ length: 2 * quarter }, () => shares.readsOf(caller).query(statement)),
  );
  const before = running();
  expect(before).toBeLessThanOrEqual(2 * quarter);
  const write = shares.writesOf(attacker).transaction(async () => {});
  expect(running()).toBe(before + 1);
  await Promise.all([...reads, write, end()]);
});

test('an account has one filter at a time, which rests for as long as it took', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { shares, running, end } = start();
  const filter = (account: string) =>
    shares.filterTurns(account, () => shares.readsOf(honest).query(statement));
  const work = [filter('a'), filter('a'), filter('b')];
  expect(running()).toBe(2);
  vi.advanceTimersByTime(100);
  await end();
  expect(running()).toBe(2);
  vi.advanceTimersByTime(100);
  await new Promise(setImmediate);
  expect(running()).toBe(3);
  await end();
  vi.advanceTimersByTime(250);
  await Promise.all(work);
});

test('a thousand statements of an account wait, for 15 seconds each; more, or longer, is refused', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { shares, running, end } = start();
  const reads = shares.readsOf(attacker);
  const refused: unknown[] = [];
  const read = () => reads.query(statement).catch(({ code }: AppError) => refused.push(code));
  const work = Array.from({ length: quarter + 1_000 }, read);
  await vi.advanceTimersByTimeAsync(14_999);
  expect([running(), refused]).toEqual([quarter, []]);
  work.push(read());
  await vi.advanceTimersByTimeAsync(0);
  expect(refused).toEqual(['rate_limited']);
  await vi.advanceTimersByTimeAsync(1);
  expect([running(), refused.length]).toEqual([quarter, 1_001]);
  await Promise.all([...work, end()]);
});

test('orders that share a commit with those of other accounts take none of a share', () => {
  const { db, shares } = start();
  expect(shares.writesOf(attacker).unlimited).toBe(db);
});
