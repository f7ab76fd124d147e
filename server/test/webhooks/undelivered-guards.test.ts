import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/accounts/context.ts';
import { readUndelivered } from '../../src/notify/webhooks/undelivered/read.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;
type Endpoint = { id: string; path: string; uuid: string };

let service: TestService;
let account: { url: string; key: string; accountUuid: string };
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  account = { url: service.url, ...(await service.createAccount('Missing')) };
});

async function get(path: string): Promise<Json> {
  const { status, json } = await call(account, 'GET', path);
  expect([status, json.error?.message]).toEqual([200, undefined]);
  return json;
}

async function createEndpoint(): Promise<Endpoint> {
  const body = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['*'] };
  const { json } = await call(account, 'POST', '/v1/webhook_endpoints', { body });
  return { id: json.id, path: `/v1/webhook_endpoints/${json.id}`, uuid: uuidOfId('we', json.id) as string };
}

async function sendEvent(type: string, data: object = {}): Promise<string> {
  return (await call(account, 'POST', '/v1/events/test', { body: { type, data } })).json.id;
}

const patch = ({ path }: Endpoint, body: object) => call(account, 'PATCH', path, { body });

async function listed(filter: string): Promise<string[]> {
  const { data } = await get(`/v1/events?${filter}&limit=100`);
  return data.map(({ id }: Json) => id).reverse();
}

/** The events that are undelivered by this filter, once the endpoint counts as many. */
async function undelivered({ path }: Endpoint, filter: string): Promise<string[]> {
  const found = await listed(`delivery=undelivered&${filter}`);
  expect((await get(`${path}/undelivered?${filter}`)).event_count).toBe(found.length);
  return found;
}

function seconds(): number {
  return Math.floor(service.clock.nowMs() / 1_000);
}

test('only what was missed in the given time counts, whether it was canceled or never queued', async () => {
  const endpoint = await createEndpoint();
  const events = [await sendEvent('esim.a')];
  const times: number[] = [];
  const pass = () => {
    service.clock.advance(3_600_000);
    times.push(seconds());
  };
  pass();
  events.push(await sendEvent('esim.b'));
  await patch(endpoint, { status: 'disabled' });
  events.push(await sendEvent('esim.c'));
  pass();
  events.push(await sendEvent('esim.d'));
  const [first, second] = times;
  expect(await undelivered(endpoint, `created[lt]=${first}`)).toEqual(events.slice(0, 1));
  expect(await undelivered(endpoint, `created[gte]=${first}&created[lt]=${second}`)).toEqual(
    events.slice(1, 3),
  );
  expect(await undelivered(endpoint, `created[gte]=${second}`)).toEqual(events.slice(3));
});

test('only what is of the given types counts, also of types that come later in the alphabet', async () => {
  const endpoint = await createEndpoint();
  const wanted: string[] = [];
  for (let turn = 0; turn < 2; turn++) {
    for (const type of ['bundle.a', 'esim.a', 'esim.b', 'usage.a']) {
      const id = await sendEvent(type);
      if (type === 'esim.a') wanted.push(id);
    }
    await patch(endpoint, { status: 'disabled' });
  }
  expect(await undelivered(endpoint, 'type=esim.a')).toEqual(wanted);
});

test('an event about an endpoint is not listed for its eSIM as undelivered to that endpoint', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  const iccid = '8999901000000000018';
  await sendEvent('webhook_endpoint.disabled', { iccid, webhook_endpoint_id: endpoint.id });
  const other = await sendEvent('webhook_endpoint.disabled', { iccid, webhook_endpoint_id: 'we_other' });
  expect(await listed(`delivery=undelivered&iccid=${iccid}`)).toEqual([other]);
});

test('an endpoint has at most a hundred gaps, and forgets nothing beyond', async () => {
  const endpoint = await createEndpoint();
  await service.db.pool.query(
    `insert into endpoint_gaps (account_id, endpoint_id, from_at, until_at, enabled_event_types)
     select $1, $2, timestamptz 'epoch' + n * interval '1 day', timestamptz 'epoch' + n * interval '1 day', array['type.' || n]
     from generate_series(1, 100) n`,
    [account.accountUuid, endpoint.uuid],
  );
  const events: string[] = [];
  for (const status of ['disabled', 'enabled']) {
    await patch(endpoint, { status });
    if (status === 'disabled') for (const type of ['esim.a', 'type.100']) events.push(await sendEvent(type));
  }
  const { rows } = await service.db.pool.query(
    'select count(*)::integer from endpoint_gaps where endpoint_id = $1',
    [endpoint.uuid],
  );
  expect(rows).toEqual([{ count: 100 }]);
  expect(await undelivered(endpoint, '')).toEqual(events);
});

test('what was missed is counted within a time limit, beyond which the answer says how to narrow it', async () => {
  const { path, uuid } = await createEndpoint();
  const limits: number[] = [];
  const db: Database = {
    ...service.db,
    query: () => Promise.reject(new Error('without a limit of its own')),
    queryWithin(timeoutMs, statement, values) {
      limits.push(timeoutMs);
      return service.db.queryWithin(timeoutMs, statement, values);
    },
  };
  const context = { db, account: { uuid: account.accountUuid } } as Context;
  expect((await readUndelivered(context, uuid, {})).count).toBe(0);
  expect(limits).toEqual([2_000]);
  const holder = await service.db.pool.connect();
  try {
    await holder.query('begin');
    await holder.query('lock table endpoint_gaps in access exclusive mode');
    const { status, json } = await call(account, 'GET', `${path}/undelivered`);
    expect([status, json.error?.code]).toEqual([400, 'query_too_broad']);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
});

test('an event is listed once that waits for two endpoints, or failed at both', async () => {
  for (let count = 0; count < 2; count++) await createEndpoint();
  const event = await sendEvent('esim.a');
  expect(await listed('delivery=pending')).toEqual([event]);
  const columns = 'account_id, id, event_id, endpoint_id, origin, created_at';
  await service.db.pool.query(
    `with queued as (delete from delivery_queue where account_id = $1 returning ${columns})
     insert into deliveries (${columns}, status, attempt_count, finished_at) select *, 'failed', 1, now() from queued`,
    [account.accountUuid],
  );
  expect(await listed('delivery=failed')).toEqual([event]);
  await service.db.pool.query(`update deliveries set status = 'canceled' where account_id = $1`, [
    account.accountUuid,
  ]);
  expect(await listed('delivery=canceled')).toEqual([event]);
});

test('the events of an eSIM are listed by what became of their deliveries', async () => {
  await createEndpoint();
  const iccid = '8999901000000000018';
  const events: string[] = [];
  const columns = 'account_id, id, event_id, endpoint_id, origin, created_at';
  for (const status of ['failed', 'canceled', 'succeeded', null]) {
    events.push(await sendEvent('esim.a', { iccid }));
    if (status === null) continue;
    await service.db.pool.query(
      `with queued as (delete from delivery_queue where account_id = $1 returning ${columns})
       insert into deliveries (${columns}, status, attempt_count, finished_at) select *, $2, 1, now() from queued`,
      [account.accountUuid, status],
    );
  }
  const [failed, canceled, , pending] = events;
  for (const [state, found] of [
    ['failed', [failed]],
    ['canceled', [canceled]],
    ['pending', [pending]],
    ['undelivered', [failed, canceled]],
  ] as const) {
    expect(await listed(`delivery=${state}&iccid=${iccid}`), state).toEqual(found);
  }
});

test('a gap does not reach over hours in which the endpoint was subscribed to something else', async () => {
  const endpoint = await createEndpoint();
  const pause = async () => {
    for (const status of ['disabled', 'enabled']) await patch(endpoint, { status });
  };
  await pause();
  await patch(endpoint, { enabled_event_types: ['bundle.*'] });
  service.clock.advance(3_600_000);
  await sendEvent('esim.a');
  service.clock.advance(3_600_000);
  await patch(endpoint, { enabled_event_types: ['*'] });
  await pause();
  expect(await undelivered(endpoint, '')).toEqual([]);
});

test('what was missed is told by day, the oldest first, and of each day the most frequent type first', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  const day = 86_400_000;
  const nextDay = () => service.clock.advance(day - (service.clock.nowMs() % day) + 3_600_000);
  nextDay();
  for (const type of ['esim.b', 'esim.c', 'esim.c']) await sendEvent(type);
  nextDay();
  await sendEvent('esim.a');
  const { days } = await get(`${endpoint.path}/undelivered`);
  expect(days.map(({ types }: Json) => types)).toEqual([
    [
      { type: 'esim.c', count: 2 },
      { type: 'esim.b', count: 1 },
    ],
    [{ type: 'esim.a', count: 1 }],
  ]);
});
