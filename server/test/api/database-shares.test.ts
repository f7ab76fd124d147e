import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { hexHashOf } from '../../src/accounts/api-key-text.ts';
import { openDatabase } from '../../src/platform/db/database.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { startTransactionPooler } from '../support/transaction-pooler.ts';
import { until } from '../support/until.ts';

type Client = { url: string; key: string };

const quarter = 4; // of the service's 16 connections
let service: TestService;
let attacker: Client;
let honest: Client & { accountUuid: string };
let operator: Client;
/** A session that holds locks, outside the service's connections. */
let locks: pg.Client;

beforeAll(async () => {
  service = await startService();
  attacker = service;
  honest = { url: service.url, ...(await service.createAccount('Honest')) };
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
  locks = new pg.Client({ connectionString: service.databaseUrl });
  await locks.connect();
});
afterAll(async () => {
  await locks.end();
  await service.stop();
});

/** How many statements wait for a lock. Asked outside the transaction that holds it, whose view of this does not change. */
async function waitingForLock(): Promise<number> {
  const { rows } = await service.db.pool.query(
    `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  return rows.length;
}

const times = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

/** Orders, reads, filters and changes, as a client does that knows nothing of the attack. */
async function expectServed(client: typeof honest): Promise<void> {
  const iccid = await insertEsim({ ...service, accountUuid: client.accountUuid });
  for (let round = 0; round < 5; round++) {
    const replies = await Promise.all([
      provision(client),
      provision(client, `order-${iccid}-${round}`),
      call(client, 'GET', '/v1/esims'),
      call(client, 'GET', '/v1/esims?status=provisioned'),
      call(client, 'GET', '/v1/events?type=esim.*'),
      call(client, 'GET', `/v1/search?q=${iccid}`),
      call(client, 'PATCH', `/v1/esims/${iccid}`, { body: { description: String(round) } }),
      call(client, 'POST', '/v1/events/test', { body: { type: 'a.b', data: {} } }),
      call(operator, 'GET', '/v1/operator/accounts'),
    ]);
    expect(replies.map(({ status }) => status)).toEqual([202, 202, 200, 200, 200, 200, 200, 202, 200]);
  }
}

/** Counts the statements of filters, and holds the first until it is released. */
function holdFirstFilter({ db }: TestService) {
  const { queryWithin } = db;
  let [count, release] = [0, () => {}];
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  db.queryWithin = async (...given) => {
    count += 1;
    if (count === 1) await held;
    return queryWithin(...given);
  };
  return { count: async () => count, release };
}

/** Counts which of these keys have been looked up: each request with a new one arrives with it. */
function countKeyLookups({ db }: TestService, keys: string[]): () => Promise<number> {
  const { query } = db;
  const awaited = new Set(keys.map(hexHashOf));
  db.query = (statement, values) => {
    if (statement.name === 'api_keys_find')
      for (const hash of (values as [string[]])[0]) awaited.delete(hash);
    return query(statement, values);
  };
  return async () => keys.length - awaited.size;
}

describe('while a table is locked that only the lists of one account need', () => {
  beforeEach(async () => {
    await locks.query('begin; lock table request_log in access exclusive mode');
    return async () => void (await locks.query('rollback'));
  });

  test('24 lists at once hold a quarter of the connections, and everybody else is served', async () => {
    const lists = times(24, () => call(attacker, 'GET', '/v1/requests'));
    await until(waitingForLock, (count) => count >= quarter);
    await expectServed(honest);
    expect(await waitingForLock()).toBeLessThanOrEqual(quarter);
    // Its own orders share a commit with those of others, so they do not wait either.
    expect((await provision(attacker)).status).toBe(202);
    await locks.query('rollback');
    await lists;
    expect((await call(attacker, 'GET', '/v1/requests')).status).toBe(200);
  });

  test('filters of 24 keys of one account run one at a time', async () => {
    const keys = await times(24, () => service.createKey({ scopes: ['read'] }));
    const lists = times(24, (n) =>
      call({ url: service.url, key: keys[n] as string }, 'GET', '/v1/requests?status=4xx'),
    );
    await until(waitingForLock, (count) => count >= 1);
    await expectServed(honest);
    expect(await waitingForLock()).toBeLessThanOrEqual(1);
    await locks.query('rollback');
    await lists;
  });

  test('lists of many accounts together leave half of the connections to writes', async () => {
    const accounts = await times(6, () => service.createAccount('Many'));
    const lists = accounts.flatMap(({ key }) =>
      Array.from({ length: 4 }, () => call({ url: service.url, key }, 'GET', '/v1/requests')),
    );
    await until(waitingForLock, (count) => count >= 2 * quarter);
    const iccid = await insertEsim({ ...service, accountUuid: honest.accountUuid });
    const writes = await times(8, (n) =>
      Promise.all([
        provision(honest),
        call(honest, 'PATCH', `/v1/esims/${iccid}`, { body: { description: String(n) } }),
      ]),
    );
    expect(writes.flat().map(({ status }) => status)).toEqual(Array(8).fill([202, 200]).flat());
    expect(await waitingForLock()).toBeLessThanOrEqual(2 * quarter);
    await locks.query('rollback');
    await Promise.all(lists);
  });

  test('a filter is ended after 2 s, in PostgreSQL too, and the answer names a narrower one', async () => {
    const whole = call(attacker, 'GET', '/v1/requests');
    const filtered = await call(attacker, 'GET', '/v1/requests?status=4xx&operation=getEsim');
    expect(filtered.status).toBe(400);
    expect(filtered.json.error).toMatchObject({
      type: 'invalid_request_error',
      code: 'query_too_broad',
      param: 'status',
      message:
        'The search took more than 2 s and was ended. Send a shorter time with created[gte] and created[lt], or a value of error_code, or a value of via.',
    });
    // The list without a filter has the usual time, and is the only one left.
    expect(await waitingForLock()).toBe(1);
    await locks.query('rollback');
    expect((await whole).status).toBe(200);
    expect((await call(attacker, 'GET', '/v1/requests?status=4xx')).status).toBe(200);
  });
});

test('changes of one account that wait for a lock leave the other connections to everybody else', async () => {
  const iccid = await insertEsim(service);
  await locks.query('begin');
  await locks.query('select from esims where account_id = $1 and iccid = $2 for update', [
    service.accountUuid,
    iccid,
  ]);
  const changes = times(24, (n) =>
    call(attacker, 'PATCH', `/v1/esims/${iccid}`, { body: { description: String(n) } }),
  );
  await until(waitingForLock, (count) => count >= quarter);
  await expectServed(honest);
  expect(await waitingForLock()).toBeLessThanOrEqual(quarter);
  expect((await provision(attacker)).status).toBe(202);
  expect((await call(attacker, 'GET', `/v1/esims/${iccid}`)).status).toBe(200);
  await locks.query('rollback');
  await changes;
  const change = await call(attacker, 'PATCH', `/v1/esims/${iccid}`, { body: { description: 'x' } });
  expect(change.status).toBe(200);
});

test('a filter whose client leaves before its turn is not run', async () => {
  const keys = await times(5, () => service.createKey({ scopes: ['read'] }));
  const filters = holdFirstFilter(service);
  const arrived = countKeyLookups(service, keys);
  const first = call(attacker, 'GET', '/v1/requests?status=4xx');
  await until(filters.count, (count) => count === 1);
  const leaving = new AbortController();
  const waiting = keys.map((key) =>
    fetch(`${service.url}/v1/requests?status=5xx`, {
      headers: { Authorization: `Bearer ${key}` },
      signal: leaving.signal,
    }).catch(() => null),
  );
  await until(arrived, (count) => count === 5);
  leaving.abort();
  await Promise.all(waiting);
  const left = async () => service.logLines.filter((line) => line.includes('"status":499')).length;
  await until(left, (count) => count === 5);
  filters.release();
  expect((await first).status).toBe(200);
  expect((await call(attacker, 'GET', '/v1/requests?status=4xx')).status).toBe(200);
  expect(await filters.count()).toBe(2);
});

describe.each(['direct', 'pooled'])('on a %s connection', (kind) => {
  test('the time of one statement does not become the time of the next', async () => {
    const pooler =
      kind === 'pooled' ? await startTransactionPooler({ url: service.databaseUrl, serverCount: 1 }) : null;
    const connectionString = pooler?.url ?? service.databaseUrl;
    const db = openDatabase({ connectionString, poolSize: 1, onError: () => {} });
    const timeout = { name: 'test_timeout', text: `select current_setting('statement_timeout') as value` };
    try {
      const [before] = await db.query<{ value: string }>(timeout);
      const sleep = { name: 'test_sleep', text: 'select from pg_sleep(600)' };
      await expect(db.queryWithin(50, sleep)).rejects.toMatchObject({ code: '57014' });
      expect(await db.queryWithin(7_000, timeout)).toEqual([{ value: '7s' }]);
      expect(await db.query(timeout)).toEqual([before]);
    } finally {
      await db.end();
      await pooler?.stop();
    }
  });
});
