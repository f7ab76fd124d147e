import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connect } from '../../src/platform/db/connect.ts';
import { parseConnectionUrl } from '../../src/platform/db/connection-url.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { openWritable } from '../../src/platform/db/open-client.ts';
import { createSignals } from '../../src/platform/db/signals.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

let database: { url: string; drop(): Promise<void> };
let admin: pg.Client;
beforeEach(async () => {
  database = await createEmptyDatabase();
  admin = new pg.Client({ connectionString: database.url, application_name: 'the test' });
  await admin.connect();
});
afterEach(async () => {
  await admin.end();
  await database.drop();
});

async function countSessions(like: string): Promise<number> {
  const { rows } = await admin.query<{ count: number }>(
    `select count(*)::int as count from pg_stat_activity
     where datname = current_database() and application_name like $1`,
    [like],
  );
  return rows[0]?.count ?? 0;
}

const alter = (setting: string) =>
  admin.query(`alter database ${new URL(database.url).pathname.slice(1)} set ${setting}`);

test.each([
  ['that takes no writes', 'is read-only', () => alter('default_transaction_read_only = on')],
  [
    'that cannot be examined',
    'broken on purpose',
    async () => {
      await admin.query(`create function public.pg_is_in_recovery() returns boolean language plpgsql as
        $$ begin raise 'broken on purpose'; end $$`);
      await alter('search_path = public, pg_catalog');
    },
  ],
])('a search leaves no connection on a server %s, however often it is repeated', async (_, says, spoil) => {
  await spoil();
  const address = parseConnectionUrl(database.url);
  for (let n = 0; n < 3; n++)
    await expect(openWritable(address, { applicationName: 'a search' })).rejects.toThrow(says);
  await until(
    () => countSessions('a search'),
    (count) => count === 0,
    20_000,
  );
});

test.each<[string, (db: Database) => Promise<unknown>]>([
  [
    'a statement',
    async (db) => {
      await db.query({
        name: 'test_read_only',
        text: 'set session characteristics as transaction read only',
      });
      await db.query({ name: 'test_write', text: 'create table written ()' });
    },
  ],
  [
    'a transaction',
    (db) =>
      db.transaction(async (tx) => {
        await tx.query({ name: 'test_read_only', text: 'set transaction read only' });
        await tx.query({ name: 'test_write', text: 'create table written ()' });
      }),
  ],
])(
  '%s that finds its server read-only makes the process look for one that takes writes',
  async (_, write) => {
    const told: (string | null)[] = [];
    const db = openDatabase({
      ...{ connectionString: database.url, poolSize: 1, onError: () => {} },
      onAvailability: (reason) => void told.push(reason),
    });
    try {
      await expect(write(db)).rejects.toThrow('read-only transaction');
      await until(
        async () => told,
        ({ length }) => length === 2,
        20_000,
      );
      expect(told).toEqual([expect.stringContaining('does not accept writes'), null]);
      await db.query({ name: 'test_write', text: 'create table written ()' });
    } finally {
      await db.end();
    }
  },
);

test('no connection from before a server was found read-only is used again, also if it was idle', async () => {
  const told: (string | null)[] = [];
  const db = openDatabase({
    ...{ connectionString: database.url, poolSize: 2, onError: () => {} },
    onAvailability: (reason) => void told.push(reason),
  });
  const text = 'select pg_backend_pid() as pid, pg_sleep(0.2)';
  const usedPids = async () => {
    const used = () => db.query<{ pid: number }>({ name: 'test_pid', text });
    return (await Promise.all([used(), used()])).flat().map(({ pid }) => pid);
  };
  try {
    const before = await usedPids();
    expect(new Set(before).size).toBe(2);
    const write = db.transaction(async (tx) => {
      await tx.query({ name: 'test_read_only', text: 'set transaction read only' });
      await tx.query({ name: 'test_write', text: 'create table written ()' });
    });
    await expect(write).rejects.toThrow('read-only transaction');
    await until(
      async () => told,
      ({ length }) => length === 2,
      20_000,
    );
    expect((await usedPids()).filter((pid) => before.includes(pid))).toEqual([]);
  } finally {
    await db.end();
  }
});

test('a login that is refused is not tried again until the time is over, because waiting does not help', async () => {
  const url = new URL(database.url);
  url.username = 'nobody_of_this_name';
  const opening = connect({
    ...{ databaseUrl: url.href, dataDir: '', poolSize: 1, waitMs: Number.POSITIVE_INFINITY },
    onError: () => {},
  });
  await expect(opening).rejects.toThrow(/nobody_of_this_name|[Pp]eer|password/);
}, 60_000);

test('however many listen in a process, it has one connection for signals', async () => {
  const onError = (error: Error) => expect.fail(String(error));
  const db = openDatabase({ connectionString: database.url, poolSize: 1, onError });
  const signals = createSignals({ db, connectionString: database.url, onError });
  try {
    const heard: string[] = [];
    for (const topic of ['executions', 'deliveries', 'feed'] as const)
      signals.on(topic, (subject) => void heard.push(`${topic} ${subject}`));
    const topics = ['executions', 'deliveries', 'feed'];
    await until(
      async () => {
        for (const topic of topics) await admin.query('select pg_notify($1, $2)', ['simplane', `${topic} a`]);
        return new Set(heard).size;
      },
      (count) => count === topics.length,
    );
    expect(await countSessions('%signals')).toBe(1);
  } finally {
    await signals.stop();
    await db.end();
  }
});
