import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Context } from '../../src/accounts/context.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import { readUndelivered } from '../../src/notify/webhooks/undelivered/read.ts';
import { countUndelivered, insertGap } from '../../src/notify/webhooks/undelivered/sql.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

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

test('an event of another type that names an endpoint in its data is undelivered to that endpoint', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  const event = await sendEvent('esim.a', { webhook_endpoint_id: endpoint.id });
  expect(await undelivered(endpoint, '')).toEqual([event]);
});

test('a day of what was missed is one of UTC, wherever the database is', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  const { created } = await get(`/v1/events/${await sendEvent('esim.a')}`);
  const client = await service.db.pool.connect();
  try {
    const days: string[] = [];
    for (const zone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
      await client.query(`set timezone to '${zone}'`);
      const query = async ({ text }: { text: string }, values: unknown[]) =>
        (await client.query(text, values)).rows;
      const key = { accountUuid: account.accountUuid, endpointUuid: endpoint.uuid };
      const counts = await countUndelivered({ query } as unknown as Queryable, key, { limit: 10 });
      days.push(...counts.map(({ day }) => day));
    }
    const day = new Date(created * 1_000).toISOString().slice(0, 10);
    expect(days).toEqual([day, day]);
  } finally {
    await client.query('reset timezone');
    client.release();
  }
});

/** The first and the last second of each of its gaps. */
async function gapsOf({ uuid }: Endpoint): Promise<[from: number, until: number][]> {
  const { rows } = await service.db.pool.query(
    `select floor(extract(epoch from from_at))::integer as from, floor(extract(epoch from until_at))::integer as until
     from endpoint_gaps where endpoint_id = $1 order by from_at`,
    [uuid],
  );
  return rows.map((row) => [row.from, row.until]);
}

test('a recovery up to a time within a gap leaves of it what it has not searched, with a margin of a minute', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  service.clock.advance(7_200_000);
  await patch(endpoint, { status: 'enabled' });
  const [[, end] = []] = await gapsOf(endpoint);
  const body = { until: seconds() - 3_600 };
  const { json } = await call(account, 'POST', `${endpoint.path}/recover`, { body });
  await until(
    async () => {
      await runRecoveries(service.db, service.service);
      return get(`/v1/recoveries/${json.id}`);
    },
    ({ status }) => status === 'succeeded',
  );
  expect(await gapsOf(endpoint)).toEqual([[body.until - 60, end]]);
});

test('a gap never ends before it begins or goes back, whatever the clocks of the processes show', async () => {
  const endpoint = await createEndpoint();
  const start = seconds() + 36_000;
  const setClock = (hour: number) =>
    service.clock.advance((start + hour * 3_600) * 1_000 - service.clock.nowMs());
  /** In hours. */
  const gapAfter = async (disabledAt: number, enabledAt: number) => {
    for (const [status, at] of Object.entries({ disabled: disabledAt, enabled: enabledAt })) {
      setClock(at);
      expect((await patch(endpoint, { status })).status).toBe(200);
    }
    return (await gapsOf(endpoint)).map((gap) => gap.map((at) => Math.round((at - start) / 3_600)));
  };
  try {
    expect(await gapAfter(0, -1)).toEqual([[0, 0]]);
    await service.db.pool.query(
      `update endpoint_gaps set until_at = until_at + interval '3 hours' where endpoint_id = $1`,
      [endpoint.uuid],
    );
    expect(await gapAfter(1, 2)).toEqual([[0, 3]]);
  } finally {
    setClock(4);
  }
});

test('a gap that began in the moment of another one’s end is part of it', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  await service.db.pool.query(
    `insert into endpoint_gaps (account_id, endpoint_id, from_at, until_at, enabled_event_types)
     select account_id, id, disabled_at, disabled_at, array['bundle.*'] from webhook_endpoints where id = $1`,
    [endpoint.uuid],
  );
  expect((await patch(endpoint, { status: 'enabled' })).status).toBe(200);
  expect(await gapsOf(endpoint)).toHaveLength(1);
});

test('an endpoint that another request is enabling gets no gap beyond that moment', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  const enabling = await service.db.pool.connect();
  try {
    await enabling.query('begin');
    await enabling.query(
      `update webhook_endpoints set status = 'enabled', disabled_at = null where id = $1`,
      [endpoint.uuid],
    );
    const key = { accountUuid: account.accountUuid, endpointUuid: endpoint.uuid };
    const noting = insertGap(service.db, key, new Date(service.clock.nowMs()));
    await Promise.race([noting, untilLockIsAwaited(service)]);
    await enabling.query('commit');
    await noting;
  } finally {
    enabling.release();
  }
  expect(await gapsOf(endpoint)).toEqual([]);
});
