import { expect, test } from 'vitest';
import type { KnownKey } from '../accounts/key-directory.ts';
import type { Database } from '../platform/db/database.ts';
import { createDatabaseShares } from './database-shares.ts';

const quarter = 4;

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
  return { shares: createDatabaseShares(db), running: () => running, end };
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
