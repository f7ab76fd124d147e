import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import type { Moving } from '../../src/commands/move/parts.ts';
import { startReplication } from '../../src/commands/move/replicate.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let source: TestService;
beforeAll(async () => {
  source = await startService();
});
afterAll(() => source.stop());

/** The tests' PostgreSQL does not replicate: what needs that is only recorded. */
const ofReplication = ['move_create_slot', 'move_subscribe'];

function movingOf({ accountUuid }: TestService, sourceUrl: string): { moving: Moving; recorded: string[] } {
  const recorded: string[] = [];
  const db = openDatabase({ connectionString: source.databaseUrl, poolSize: 2, onError: () => {} });
  onTestFinished(() => db.end());
  const recording: Database = {
    ...db,
    async query(statement, values) {
      if (!ofReplication.includes(statement.name)) return db.query(statement, values);
      recorded.push(statement.text);
      return [];
    },
  };
  const moving = {
    tools: { ...source.service, ...commandLine } as unknown as Moving['tools'],
    ...{ source: recording, target: recording, accountUuid, sourceUrl },
    name: `simplane_move_${accountUuid.replaceAll('-', '')}`,
    cells: { source: null, target: 'us' },
    say: () => {},
  };
  return { moving, recorded };
}

test('usage from before it had an account gets the account’s of every eSIM, however many there are', async () => {
  const tenant = { ...source, ...(await source.createAccount('Tenant')) };
  const [own, foreign] = [await insertEsim(tenant), await insertEsim(source)];
  const { pool } = source.db;
  await pool.query(
    `insert into esims
     select (jsonb_populate_record(esims, jsonb_build_object('iccid', '89880' || n, 'id', gen_random_uuid(),
       'execution_id', gen_random_uuid()))).*
     from esims, generate_series(10001, 11100) n
     where account_id = $1 and iccid = $2`,
    [tenant.accountUuid, own],
  );
  await pool.query(`insert into usage_days (iccid, day, bytes) select iccid, 'epoch', 1 from esims`);
  await startReplication(movingOf(tenant, '').moving);
  const { rows } = await pool.query(
    'select account_id = $1 as is_own, count(*)::integer as count from usage_days group by 1 order by 2',
    [tenant.accountUuid],
  );
  expect(rows).toEqual([
    { is_own: null, count: 1 },
    { is_own: true, count: 1_101 },
  ]);
  const left = await pool.query('select iccid from usage_days where account_id is null');
  expect(left.rows).toEqual([{ iccid: foreign }]);
});

test('a quote in the address of the old cell’s PostgreSQL does not end it', async () => {
  const { moving, recorded } = movingOf(source, "postgresql://cell:it's@127.0.0.1/simplane");
  await startReplication(moving);
  expect(recorded.at(-1)).toContain("connection 'postgresql://cell:it''s@127.0.0.1/simplane'\n");
});

test('only rows of the account are copied, and of what only grows no change and no removal', async () => {
  const tenant = { ...source, ...(await source.createAccount('Published')) };
  const { moving } = movingOf(tenant, '');
  await startReplication(moving);
  const published = await source.db.pool.query<{ filter: string | null }>(
    'select distinct rowfilter as filter from pg_publication_tables where starts_with(pubname, $1)',
    [moving.name],
  );
  const filters = published.rows.map(({ filter }) => filter?.replaceAll('-', ''));
  expect(filters).toEqual([`(account_id = '${tenant.accountUuid}'::uuid)`]);
  const { rows } = await source.db.pool.query(
    `select pubinsert as inserts, pubupdate as updates, pubdelete as deletes
     from pg_publication where starts_with(pubname, $1) order by pubname`,
    [moving.name],
  );
  expect(rows).toEqual([
    { inserts: true, updates: true, deletes: true },
    { inserts: true, updates: false, deletes: false },
  ]);
});

test('a table that somebody changes is not waited for so long that others wait behind it', async () => {
  const tenant = { ...source, ...(await source.createAccount('Patient')) };
  const [holder, other] = [await source.db.pool.connect(), await source.db.pool.connect()];
  try {
    await holder.query('begin; lock table usage_days in row exclusive mode');
    const started = startReplication(movingOf(tenant, '').moving);
    started.catch(() => {}); // the test awaits it later
    await until(
      async () =>
        (
          await other.query(
            `select from pg_locks l join pg_database d on d.oid = l.database
             where d.datname = current_database() and l.relation = 'usage_days'::regclass and not l.granted`,
          )
        ).rowCount,
      (count) => count === 1,
    );
    await other.query(`begin; set local statement_timeout = '4s'; select from usage_days limit 1; commit`);
    await holder.query('rollback');
    await started;
  } finally {
    holder.release(true);
    other.release(true);
  }
});
