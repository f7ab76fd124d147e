import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listAccountEntries, listAllEntries } from '../../src/accounts/audit/sql.ts';
import { listProductRows } from '../../src/accounts/products/sql.ts';
import { listEventRows } from '../../src/notify/events/sql/events.ts';
import { listEsimRows } from '../../src/orders/esims/sql/list.ts';
import { listExecutionRows, listRowsOfEsim } from '../../src/orders/executions/sql/executions.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { lowestUuid } from '../../src/platform/ids/uuid-range.ts';
import { findByIccidEnd } from '../../src/views/lookups/sql.ts';
import { listLines } from '../../src/views/request-log/sql.ts';
import { startService, type TestService } from '../support/service.ts';

const rows = 30_000;
const rareRows = 5;
const page = { beforeUuid: null, count: 11 };
const eid = '7'.padStart(32, '0');
const iccid = '8999901999999999999';
const nowSeconds = Math.floor(Date.now() / 1_000);
const longAgo = { fromSeconds: nowSeconds - rows, untilSeconds: nowSeconds - rows + 100 };

let service: TestService;
let client: pg.Client;

/**
 * A row a second. The rare values are the oldest, behind all rows with the common ones, and PostgreSQL's statistics do not know
 * them: among a million rows its sample misses them.
 */
beforeAll(async () => {
  service = await startService();
  client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  // What autovacuum reads would be counted too.
  for (const table of [
    'audit_log',
    'request_log',
    'esims',
    'esim_metadata',
    'executions',
    'events',
    'products',
    'product_countries',
  ]) {
    await client.query(`alter table ${table} set (autovacuum_enabled = off)`);
  }
  await client.query(`
create function test_time(n integer) returns timestamptz language sql as
  $$ select to_timestamp(${nowSeconds}) - (${rows} - n) * interval '1 second' $$`);
  await fill(rareRows + 1, rows);
  await client.query('analyze');
  await fill(1, rareRows);
  await client.query('set enable_seqscan = off');
  await client.query('set plan_cache_mode = force_generic_plan');
});
afterAll(async () => {
  await client.end();
  await service.stop();
});

async function fill(first: number, last: number): Promise<void> {
  const insert = (text: string) => client.query(`${text} from generate_series(${first}, ${last}) n`);
  const account = `'${service.accountUuid}'`;
  await insert(`
insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at, eid)
select ${account}, uuid_v7(test_time(n)), 'i' || n, gen_random_uuid(), case when n <= ${rareRows} then 'rare' else 'p' end,
  case when n <= ${rareRows} then 'failed' else 'provisioned' end,
  case when n <= ${rareRows} then '{"env": "test"}' else jsonb_build_object('env', 'prod', 'order_id', n::text) end,
  test_time(n), case when n % 3 = 0 or n = 7 then lpad(n::text, 32, '0') end`);
  await insert(`
insert into executions (account_id, id, iccid, type, status, input, created_at)
select ${account}, uuid_v7(test_time(n)), 'i' || n / 4000, case when n <= ${rareRows} then 'esim.provision' else 'bundle.add' end,
  case when n % 2 = 0 then 'failed' else 'succeeded' end, '{}', test_time(n)`);
  await insert(`
insert into events (account_id, id, type, created_at, body)
select ${account}, uuid_v7(test_time(n)), case when n <= ${rareRows} then 'esim.rare' else 'esim.common' end, test_time(n),
  '{"data":{"iccid":"' || case when n <= ${rareRows} then '${iccid}' else (8999901000000000000 + n)::text end || '"}}'`);
  await insert(`
insert into products (id, name, countries, validity_days, price_amount, price_currency, speeds, active, listed, created_at)
select 'x' || n, 'x', case when n <= ${rareRows} then array['AQ'] else array['FR', 'DE'] end, 1, 1, 'eur', array['5G'], true, true,
  test_time(n)`);
  await insert(`
insert into audit_log (account_id, id, actor_type, actor_id, action, target_type, target_id, created_at)
select ${account}, uuid_v7(test_time(n)), case when n <= ${rareRows} then 'operator' else 'api_key' end,
  case when n <= ${rareRows} then 'key_rare' else 'key_common' end,
  case when n <= ${rareRows} then 'account.updated' when n % 2 = 0 then 'account.viewed' else 'event.replayed' end,
  'account', case when n <= ${rareRows} then 't_rare' when n % 2 = 0 then 'acct_1' else 't' || n end, test_time(n)`);
  await insert(`
insert into request_log (account_id, id, api_key_id, duration_ms, status, method, path, operation, error_code)
select ${account}, uuid_v7(test_time(n)), gen_random_uuid(), 1, case when n <= ${rareRows} then 503 when n % 2 = 0 then 200 else 404 end,
  'GET', '/', case when n <= ${rareRows} then 'getMe' when n % 4 < 2 then 'getEsim' else 'getProduct' end,
  case when n <= ${rareRows} then 'unavailable' when n % 2 <> 0 then 'resource_missing' end`);
}

/** Runs a list; returns how many rows it found and how many database pages it read. */
async function measure(
  list: (db: Queryable) => Promise<object[]>,
): Promise<{ found: number; pages: number }> {
  const db: Queryable = {
    query: async ({ name, text }, values = []) => (await client.query({ name, text, values })).rows,
  };
  const before = await countPagesRead();
  const { length: found } = await list(db);
  return { found, pages: (await countPagesRead()) - before };
}

/** PostgreSQL's own count. It is of the plan that ran: `explain` would show one made for these values. */
async function countPagesRead(): Promise<number> {
  await client.query('select pg_stat_force_next_flush()');
  await client.query('select pg_stat_clear_snapshot()');
  const { rows: counted } = await client.query<{ pages: string }>(`
select sum(heap_blks_hit + heap_blks_read + coalesce(idx_blks_hit + idx_blks_read, 0)) as pages
from pg_statio_user_tables`);
  return Number(counted[0]?.pages);
}

const esims = (filter: Parameters<typeof listEsimRows>[2]) => (db: Queryable) =>
  listEsimRows(db, service.accountUuid, filter, page);
const executions = (filter: Parameters<typeof listExecutionRows>[2]) => (db: Queryable) =>
  listExecutionRows(db, service.accountUuid, filter, page);
const executionsOfEsim = (ofIccid: string) => (db: Queryable) => {
  const esim = { account_id: service.accountUuid, iccid: ofIccid, execution_id: lowestUuid };
  return listRowsOfEsim(db, esim, page);
};
const eventRows = async (db: Queryable, filter: Parameters<typeof listEventRows>[2]) =>
  (await listEventRows(db, service.accountUuid, filter, { ...page, maxBytes: 1_000_000 })).rows;
const events = (types: string[] | undefined, created?: typeof longAgo) => (db: Queryable) =>
  eventRows(db, { types, created, delivery: undefined });
const eventsAbout = (types?: string[]) => (db: Queryable) =>
  eventRows(db, {
    types,
    about: { iccid, execution: undefined },
    created: undefined,
    delivery: undefined,
  });
const entries = (filter: Parameters<typeof listAccountEntries>[2]) => (db: Queryable) =>
  listAccountEntries(db, service.accountUuid, filter, page);
const allEntries = (filter: Parameters<typeof listAllEntries>[2], isOneAccount?: true) => (db: Queryable) =>
  listAllEntries(db, isOneAccount && service.accountUuid, filter, page);
const requests = (filter: Parameters<typeof listLines>[2]) => (db: Queryable) =>
  listLines(db, service.accountUuid, filter, page);
const products = (country: string) => (db: Queryable) =>
  listProductRows(db, country, { before: null, count: page.count });

test.each<[string, number, (db: Queryable) => Promise<object[]>]>([
  ['eSIMs in a rare status', 5, esims({ status: 'failed' })],
  ['eSIMs of a rare product', 5, esims({ productId: 'rare' })],
  ['eSIMs by EID', 1, esims({ eid })],
  ['eSIMs by EID and metadata', 1, esims({ eid, status: 'provisioned', metadata: [['env', 'prod']] })],
  ['eSIMs by a common pair', 11, esims({ metadata: [['env', 'prod']] })],
  ['eSIMs by a rare pair', 5, esims({ metadata: [['env', 'test']] })],
  ['eSIMs by a pair that none has', 0, esims({ metadata: [['env', 'none']] })],
  [
    'eSIMs by a common and a rare pair',
    1,
    esims({
      metadata: [
        ['env', 'prod'],
        ['order_id', '77'],
      ],
    }),
  ],
  ['eSIMs by time', 11, esims({ created: longAgo })],
  ['eSIMs by time and pair', 11, esims({ created: longAgo, metadata: [['env', 'prod']] })],
  ['eSIMs by the end of their ICCID', 3, (db) => findByIccidEnd(db, service.accountUuid, '9999', 20)],
  ['executions of a rare type', 5, executions({ types: ['esim.provision'] })],
  ['executions of a type that none has', 0, executions({ types: ['esim.suspend'] })],
  ['executions of several types', 11, executions({ types: ['bundle.add', 'esim.suspend'] })],
  ['failed executions of a rare type', 2, executions({ types: ['esim.provision'], status: 'failed' })],
  ['executions of an eSIM with many', 11, executionsOfEsim('i0')],
  ['executions of an eSIM without any', 0, executionsOfEsim('none')],
  ['events of a rare type', 5, events(['esim.rare'])],
  ['events of several types', 11, events(['esim.common', 'esim.rare', 'none.*'])],
  ['events of several rare types', 5, events(['esim.rare', 'none'])],
  ['events by time and types', 11, events(['esim.*', 'none'], longAgo)],
  ['events of an eSIM', 5, eventsAbout()],
  ['events of an eSIM and a type', 5, eventsAbout(['esim.*'])],
  ['products of a common country', 11, products('FR')],
  ['products of a rare country', 5, products('AQ')],
  ['requests', 11, requests({})],
  ['requests of a common class', 11, requests({ status: '4xx' })],
  ['requests of a rare class', 5, requests({ status: '5xx' })],
  ['requests of a rare operation', 5, requests({ operation: 'getMe' })],
  ['requests of a common operation and a rare status', 0, requests({ operation: 'getEsim', status: '503' })],
  ['requests with a common error', 11, requests({ errorCode: 'resource_missing' })],
  ['requests with a rare error', 5, requests({ errorCode: 'unavailable' })],
  [
    'requests with a common error in a rare operation',
    0,
    requests({ errorCode: 'resource_missing', operation: 'getMe' }),
  ],
  ['requests by operation and time', 11, requests({ operation: 'getEsim', created: longAgo })],
  ['audit entries', 11, entries({})],
  ['audit entries by a common actor', 11, entries({ actor: 'key_common' })],
  ['audit entries by the operator', 5, entries({ actor: 'operator' })],
  ['audit entries by a rare action', 5, entries({ action: 'account.updated' })],
  [
    'audit entries by a common actor and a rare action',
    0,
    entries({ actor: 'key_common', action: 'account.updated' }),
  ],
  ['audit entries by target', 1, entries({ target: 't77', actor: 'key_common', action: 'event.replayed' })],
  ['audit entries about an account', 11, entries({ target: 'acct_1' })],
  [
    'audit entries about an account, by a rare action',
    0,
    entries({ target: 'acct_1', action: 'account.updated' }),
  ],
  ['audit entries by actor and time', 11, entries({ actor: 'key_common', created: longAgo })],
  ['all audit entries by time', 11, allEntries({ created: longAgo })],
  ['all audit entries by a rare actor', 5, allEntries({ actor: 'key_rare' })],
  ['all audit entries by a rare action', 5, allEntries({ action: 'account.updated' })],
  ['all audit entries by target', 5, allEntries({ target: 't_rare' })],
  ['an account’s audit entries by a rare actor', 5, allEntries({ actor: 'key_rare' }, true)],
  ['an account’s audit entries by a common actor', 11, allEntries({ actor: 'key_common' }, true)],
])('a page of %s reads the rows it shows and little else', async (_, expected, list) => {
  const { found, pages } = await measure(list);
  expect(found).toBe(expected);
  // A walk over all rows reads 429 and more; a list by actor reads three for each action there is.
  expect(pages).toBeLessThan(400);
});
