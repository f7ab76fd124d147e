import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import type { Moving } from '../../src/commands/move/parts.ts';
import { startReplication } from '../../src/commands/move/replicate.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';

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
