import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;
type Account = { url: string; key: string; accountUuid: string };

let service: TestService;
let account: Account;
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

async function createEndpoint(fields: object = {}): Promise<{ id: string; path: string; uuid: string }> {
  const body = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['*'], ...fields };
  const { json } = await call(account, 'POST', '/v1/webhook_endpoints', { body });
  return { id: json.id, path: `/v1/webhook_endpoints/${json.id}`, uuid: uuidOfId('we', json.id) as string };
}

async function sendEvent(type = 'esim.suspended', data: object = {}): Promise<string> {
  return (await call(account, 'POST', '/v1/events/test', { body: { type, data } })).json.id;
}

async function sendEvents(count: number, type?: string): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await sendEvent(type));
  return ids;
}

/** Ends all pending deliveries of an endpoint, as its sender would. */
async function endPending({ uuid }: { uuid: string }, status: 'succeeded' | 'failed'): Promise<void> {
  const columns = 'account_id, id, event_id, endpoint_id, origin, created_at';
  await service.db.pool.query(
    `with queued as (delete from delivery_queue where endpoint_id = $1 returning ${columns}),
       blocked as (delete from blocked_deliveries where endpoint_id = $1 returning ${columns})
     insert into deliveries (${columns}, status, attempt_count, finished_at)
     select ${columns}, $2, 1, now() from (select * from queued union all select * from blocked) ended`,
    [uuid, status],
  );
}

const patch = ({ path }: { path: string }, body: object) => call(account, 'PATCH', path, { body });
const enable = async ({ path }: { path: string }) => (await call(account, 'POST', `${path}/enable`)).json;

async function recover({ path }: { path: string }, body: object = {}): Promise<number> {
  const { status, json } = await call(account, 'POST', `${path}/recover`, { body });
  expect([status, json.error?.message]).toEqual([202, undefined]);
  // It waits for older transactions, also of other tests.
  const done = await until(
    async () => {
      await runRecoveries(service.db, service.service);
      return get(`/v1/recoveries/${json.id}`);
    },
    ({ status }) => status === 'succeeded',
  );
  return done.queued_count;
}

/** What every place says about it. */
async function missedAt(endpoint: { path: string }) {
  const { missed_count: shown, missed_since: since } = await get(endpoint.path);
  const { event_count: counted, oldest } = await get(`${endpoint.path}/undelivered`);
  const { json: dry, status } = await call(account, 'POST', `${endpoint.path}/recover`, {
    body: { dry_run: true },
  });
  expect([status, dry.object]).toEqual([200, 'recovery_preview']);
  expect([shown, since]).toEqual([counted, oldest]);
  expect(dry.event_count).toBe(counted);
  return counted;
}

async function listed(filter = 'delivery=undelivered'): Promise<string[]> {
  const { data } = await get(`/v1/events?${filter}&limit=100`);
  return data.map(({ id }: Json) => id).reverse();
}

describe('an endpoint that was disabled', () => {
  test('has missed what was canceled and what happened meanwhile, also after it is enabled, until it is recovered', async () => {
    const endpoint = await createEndpoint();
    await sendEvents(2);
    await endPending(endpoint, 'succeeded');
    const canceled = await sendEvents(2);
    expect(await missedAt(endpoint)).toBe(0);
    await patch(endpoint, { status: 'disabled' });
    const meanwhile = await sendEvents(3, 'bundle.depleted');
    expect(await missedAt(endpoint)).toBe(5);
    expect((await enable(endpoint)).missed_count).toBe(5);
    const after = await sendEvents(1);
    expect(await missedAt(endpoint)).toBe(5);
    expect(await listed()).toEqual([...canceled, ...meanwhile]);
    expect(await listed('delivery=canceled')).toEqual(canceled);
    expect(await listed('delivery=pending')).toEqual(after);
    expect(await listed('delivery=failed')).toEqual([]);
    const { types, days, capped } = await get(`${endpoint.path}/undelivered`);
    expect(types).toEqual([
      { type: 'bundle.depleted', count: 3 },
      { type: 'esim.suspended', count: 2 },
    ]);
    expect([days.reduce((sum: number, { count }: Json) => sum + count, 0), capped]).toEqual([5, false]);
    expect(await recover(endpoint)).toBe(5);
    expect([await missedAt(endpoint), await listed()]).toEqual([0, []]);
    await endPending(endpoint, 'failed');
    expect(await missedAt(endpoint)).toBe(6);
    expect(await recover(endpoint)).toBe(6);
    await endPending(endpoint, 'succeeded');
    expect([await missedAt(endpoint), await recover(endpoint)]).toEqual([0, 0]);
  });

  test('has missed only what it was subscribed to when it happened', async () => {
    const endpoint = await createEndpoint({ enabled_event_types: ['esim.*', 'usage'] });
    await sendEvent('bundle.expired');
    await patch(endpoint, { status: 'disabled' });
    const [esim, named] = [await sendEvent('esim.a.b'), await sendEvent('usage')];
    for (const type of ['esims.other', 'usages', 'bundle.expired']) await sendEvent(type);
    // The change is told by the process's clock, with a margin of a minute to both sides.
    service.clock.advance(120_000);
    await patch(endpoint, { enabled_event_types: ['bundle.*'] });
    service.clock.advance(120_000);
    const bundle = await sendEvent('bundle.expired');
    await sendEvent('esim.a.b');
    const missed = await listed();
    expect(missed).toEqual([esim, named, bundle]);
    await enable(endpoint);
    await patch(endpoint, { enabled_event_types: ['*'] });
    expect(await listed()).toEqual(missed);
    const count = await missedAt(endpoint);
    expect([count, await recover(endpoint)]).toEqual([missed.length, missed.length]);
  });

  test('has missed an event once that is in two of its gaps', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await sendEvent();
    // The second gap begins here, and with its margin a minute earlier.
    await patch(endpoint, { enabled_event_types: ['esim.suspended'] });
    expect([await missedAt(endpoint), (await listed()).length]).toEqual([1, 1]);
  });

  test('has missed what a machine wrote whose clock is behind by less than a minute', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await service.db.pool.query(
      `update webhook_endpoints set disabled_at = disabled_at + interval '50 seconds' where id = $1`,
      [endpoint.uuid],
    );
    await sendEvent();
    expect(await missedAt(endpoint)).toBe(1);
  });

  test('remembers what it missed when an update enables it', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await sendEvent();
    await patch(endpoint, { status: 'enabled' });
    expect(await missedAt(endpoint)).toBe(1);
  });

  test('has not missed the events about itself', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await sendEvent('webhook_endpoint.disabled', { webhook_endpoint_id: endpoint.id });
    const other = await sendEvent('webhook_endpoint.disabled', { webhook_endpoint_id: 'we_other' });
    expect(await listed()).toEqual([other]);
    await enable(endpoint);
    expect([await missedAt(endpoint), await recover(endpoint)]).toEqual([1, 1]);
  });

  test('that is deleted has missed nothing', async () => {
    const endpoint = await createEndpoint();
    await sendEvents(1);
    await patch(endpoint, { status: 'disabled' });
    await sendEvents(1);
    expect(await listed()).toHaveLength(2);
    await call(account, 'DELETE', endpoint.path);
    expect(await listed()).toEqual([]);
  });
});

describe('what is undelivered', () => {
  test('is told for each endpoint, and of an event for one of them', async () => {
    const [first, second] = [await createEndpoint(), await createEndpoint()];
    const [event] = await sendEvents(1);
    await endPending(first, 'succeeded');
    await endPending(second, 'failed');
    expect([await missedAt(first), await missedAt(second)]).toEqual([0, 1]);
    expect(await listed()).toEqual([event]);
    expect(await recover(first)).toBe(0);
    expect(await recover(second)).toBe(1);
    expect(await listed()).toEqual([]);
  });

  test('stays so at one endpoint when it is replayed to another', async () => {
    const [first, second] = [await createEndpoint(), await createEndpoint()];
    const [event] = await sendEvents(1);
    for (const one of [first, second]) await endPending(one, 'failed');
    expect(await listed()).toEqual([event]);
    const body = { webhook_endpoint_id: first.id };
    expect((await call(account, 'POST', `/v1/events/${event}/replay`, { body })).status).toBe(202);
    expect([await missedAt(first), await missedAt(second)]).toEqual([0, 1]);
  });

  test('is replayed without waiting for who holds an earlier delivery', async () => {
    const endpoint = await createEndpoint();
    const [event] = await sendEvents(1);
    await endPending(endpoint, 'failed');
    const holder = await service.db.pool.connect();
    await holder.query('begin');
    await holder.query('select from deliveries where endpoint_id = $1 for update', [endpoint.uuid]);
    const { status } = await call(account, 'POST', `/v1/events/${event}/replay`, { body: {} });
    await holder.query('rollback');
    holder.release();
    expect([status, await missedAt(endpoint)]).toEqual([202, 0]);
  });

  test('can be narrowed by type, time and eSIM', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    const iccid = '8999901000000000018';
    const [event] = [
      await sendEvent('esim.activated', { iccid }),
      await sendEvent('bundle.expired', { iccid: '1' }),
    ];
    const found = { id: event, count: 1 };
    for (const filter of ['type=esim.*', `iccid=${iccid}`, `iccid=${iccid}&type=esim.activated`]) {
      expect(await listed(`delivery=undelivered&${filter}`), filter).toEqual([found.id]);
    }
    expect(await listed(`delivery=undelivered&iccid=${iccid}&type=bundle.*`)).toEqual([]);
    expect(await listed('delivery=undelivered&created[lt]=5')).toEqual([]);
    expect((await get(`${endpoint.path}/undelivered?type=esim.*`)).event_count).toBe(1);
    expect((await get(`${endpoint.path}/undelivered?created[lt]=5`)).event_count).toBe(0);
    await enable(endpoint);
    const body = { types: ['esim.*'] };
    const preview = await call(account, 'POST', `${endpoint.path}/recover`, {
      body: { ...body, dry_run: true },
    });
    expect(preview.json).toMatchObject({ event_count: 1, types: [{ type: 'esim.activated', count: 1 }] });
    expect(await recover(endpoint, body)).toBe(1);
    await endPending(endpoint, 'succeeded');
    expect(await missedAt(endpoint)).toBe(1);
    expect(await recover(endpoint, { until: 5 })).toBe(0);
    expect(await missedAt(endpoint)).toBe(1);
    expect(await recover(endpoint)).toBe(1);
    expect(await missedAt(endpoint)).toBe(0);
  });

  test('is listed in pages', async () => {
    const endpoint = await createEndpoint();
    const events = await sendEvents(3);
    await patch(endpoint, { status: 'disabled' });
    events.push(...(await sendEvents(3)));
    const first = await get('/v1/events?delivery=undelivered&limit=4');
    const rest = await get(`/v1/events?delivery=undelivered&limit=4&starting_after=${first.next_cursor}`);
    expect([...first.data, ...rest.data].map(({ id }: Json) => id)).toEqual([...events].reverse());
    expect([first.has_more, rest.has_more]).toEqual([true, false]);
  });

  test('on an ordered endpoint is what is neither delivered nor waiting', async () => {
    const endpoint = await createEndpoint({ ordering: 'esim' });
    const iccid = '8999901000000000018';
    for (let n = 0; n < 3; n++) await sendEvent('esim.activated', { iccid });
    expect(await missedAt(endpoint)).toBe(0);
    await patch(endpoint, { status: 'disabled' });
    for (let n = 0; n < 2; n++) await sendEvent('esim.activated', { iccid });
    await enable(endpoint);
    expect([await missedAt(endpoint), await recover(endpoint), await missedAt(endpoint)]).toEqual([5, 5, 0]);
  });

  test('of another account is neither shown nor counted', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await sendEvents(2);
    account = { url: service.url, ...(await service.createAccount('Other')) };
    expect(await listed()).toEqual([]);
    expect((await call(account, 'GET', `${endpoint.path}/undelivered`)).status).toBe(404);
  });

  test('is counted up to 1,000 on the endpoint, and 10,000 by itself', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    const createdMs = Math.ceil(service.clock.nowMs() / 1_000) * 1_000;
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7($2::timestamptz + n * interval '1 second'), 'esim.activated', $2, '{"data":{}}'
       from generate_series(0, 10050) n`,
      [account.accountUuid, new Date(createdMs)],
    );
    const { missed_count: missed, missed_since: since } = await get(endpoint.path);
    const { event_count: count, capped, oldest } = await get(`${endpoint.path}/undelivered`);
    expect([missed, since, oldest]).toEqual([1_000, createdMs / 1_000, createdMs / 1_000]);
    expect([count, capped]).toEqual([10_000, true]);
  });
});

describe('a recovery', () => {
  test('since a time queues what the endpoint subscribes to now, as before', async () => {
    const events = await sendEvents(2);
    const endpoint = await createEndpoint();
    expect([await missedAt(endpoint), await recover(endpoint)]).toEqual([0, 0]);
    const { created } = await get(`/v1/events/${events[0]}`);
    expect(await recover(endpoint, { since: created })).toBe(2);
    expect(await recover(endpoint, { since: created, types: ['bundle.*'] })).toBe(0);
  });

  test('begins early enough for an older event that was committed after it was requested', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await sendEvent();
    await enable(endpoint);
    const { json } = await call(account, 'POST', `${endpoint.path}/recover`, { body: {} });
    const writtenAt = new Date(service.clock.nowMs() - 30_000);
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body) values ($1, uuid_v7($2), 'esim.suspended', $2, '{"data":{}}')`,
      [account.accountUuid, writtenAt],
    );
    const done = await until(
      async () => {
        await runRecoveries(service.db, service.service);
        return get(`/v1/recoveries/${json.id}`);
      },
      ({ status }) => status === 'succeeded',
    );
    expect(done.queued_count).toBe(2);
  });

  test('since a time forgets nothing that was missed before', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await sendEvent();
    service.clock.advance(3_600_000);
    await sendEvent();
    await enable(endpoint);
    const since = Math.floor(service.clock.nowMs() / 1_000) - 600;
    expect(await recover(endpoint, { since })).toBe(1);
    expect([await missedAt(endpoint), await recover(endpoint)]).toEqual([1, 1]);
  });

  test('since a time within a minute before a gap forgets nothing that a machine with a slow clock wrote', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    const since = Math.floor(service.clock.nowMs() / 1_000) - 20;
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body) values ($1, uuid_v7($2), 'esim.suspended', $2, '{"data":{}}')`,
      [account.accountUuid, new Date((since - 20) * 1_000)],
    );
    await enable(endpoint);
    expect([await recover(endpoint, { since }), await missedAt(endpoint)]).toEqual([0, 1]);
  });

  test('until a time within a minute after a gap forgets nothing that a machine with a fast clock wrote', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    service.clock.advance(600_000);
    await enable(endpoint);
    const writtenAt = new Date(service.clock.nowMs() + 40_000);
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body) values ($1, uuid_v7($2), 'esim.suspended', $2, '{"data":{}}')`,
      [account.accountUuid, writtenAt],
    );
    service.clock.advance(20_000);
    const until = Math.floor(service.clock.nowMs() / 1_000);
    expect([await recover(endpoint, { until }), await missedAt(endpoint)]).toEqual([0, 1]);
  });

  test('until a time leaves later gaps as they are', async () => {
    const endpoint = await createEndpoint();
    for (let gap = 0; gap < 3; gap++) {
      await patch(endpoint, { status: 'disabled' });
      await sendEvent();
      service.clock.advance(7_200_000);
      await enable(endpoint);
      service.clock.advance(7_200_000);
    }
    const until = Math.floor(service.clock.nowMs() / 1_000) - 10 * 3_600 + 1_800;
    expect([await recover(endpoint, { until }), await missedAt(endpoint)]).toEqual([1, 2]);
    expect([await recover(endpoint), await missedAt(endpoint)]).toEqual([2, 0]);
  });

  test('until a time finds no event of that moment', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    const until = Math.floor(service.clock.nowMs() / 1_000) + 60;
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body) values ($1, uuid_v7($2), 'esim.suspended', $2, '{"data":{}}')`,
      [account.accountUuid, new Date(until * 1_000)],
    );
    service.clock.advance(600_000);
    await enable(endpoint);
    expect([await recover(endpoint, { until }), await recover(endpoint, { until: until + 1 })]).toEqual([
      0, 1,
    ]);
  });

  test('since a time forgets nothing that was missed by other subscriptions', async () => {
    const endpoint = await createEndpoint({ enabled_event_types: ['esim.*'] });
    await patch(endpoint, { status: 'disabled' });
    await sendEvent('esim.suspended');
    await patch(endpoint, { status: 'enabled', enabled_event_types: ['bundle.*'] });
    const since = Math.floor(service.clock.nowMs() / 1_000) - 3_600;
    expect([await recover(endpoint, { since }), await missedAt(endpoint)]).toEqual([0, 1]);
  });

  test('is refused for a time in the future, or a period that ends before it begins', async () => {
    const endpoint = await createEndpoint();
    const future = Math.floor(service.clock.nowMs() / 1_000) + 60;
    for (const [body, param] of [
      [{ since: future }, 'since'],
      [{ since: future, dry_run: true }, 'since'],
      [{ since: 10, until: 10 }, 'until'],
    ] as const) {
      const { status, json } = await call(account, 'POST', `${endpoint.path}/recover`, { body });
      expect([status, json.error.code, json.error.param]).toEqual([400, 'parameter_invalid', param]);
    }
  });

  test('of a disabled endpoint says how to enable it, as does a retry', async () => {
    const endpoint = await createEndpoint();
    const [event] = await sendEvents(1);
    await patch(endpoint, { status: 'disabled' });
    const [{ id, status }] = (await get(`/v1/events/${event}/deliveries`)).data;
    expect(status).toBe('canceled');
    for (const path of [`${endpoint.path}/recover`, `/v1/deliveries/${id}/retry`]) {
      const { status, json } = await call(account, 'POST', path, { body: {} });
      expect([status, json.error.code]).toEqual([409, 'state_conflict']);
      expect(json.error.message).toContain(`POST ${endpoint.path}/enable`);
    }
    await enable(endpoint);
    const { status: retried, json } = await call(account, 'POST', `/v1/deliveries/${id}/retry`);
    expect([retried, json.status, json.origin, json.id === id]).toEqual([202, 'pending', 'retry', false]);
    expect(await missedAt(endpoint)).toBe(0);
  });

  test('that did not finish forgets no gap', async () => {
    const endpoint = await createEndpoint();
    await patch(endpoint, { status: 'disabled' });
    await sendEvents(2);
    await enable(endpoint);
    await call(account, 'POST', `${endpoint.path}/recover`, { body: {} });
    await patch(endpoint, { status: 'disabled' });
    await runRecoveries(service.db, service.service);
    await enable(endpoint);
    expect([await missedAt(endpoint), await recover(endpoint)]).toEqual([2, 2]);
  });
});

test('what was queued again, and a gap that was recovered, are not read again', async () => {
  const endpoint = await createEndpoint();
  await sendEvents(2);
  await patch(endpoint, { status: 'disabled' });
  await sendEvents(1);
  await enable(endpoint);
  const rows = async () => {
    const { rows } = await service.db.pool.query(
      `select (select count(*)::int from deliveries where endpoint_id = $1 and not is_superseded) as deliveries,
         (select count(*)::int from endpoint_gaps where endpoint_id = $1) as gaps`,
      [endpoint.uuid],
    );
    return rows[0];
  };
  expect(await rows()).toEqual({ deliveries: 2, gaps: 1 });
  expect(await recover(endpoint)).toBe(3);
  expect(await rows()).toEqual({ deliveries: 0, gaps: 0 });
});

describe('replaying several events', () => {
  test('queues each once for every subscribed endpoint, or for one', async () => {
    const [endpoint, second] = [await createEndpoint(), await createEndpoint()];
    const ids = await sendEvents(2);
    await endPending(endpoint, 'failed');
    await endPending(second, 'succeeded');
    const body = { event_ids: [...ids, ids[0]] };
    const { status, json } = await call(account, 'POST', '/v1/events/replay', { body });
    expect(status).toBe(202);
    expect(json.data.map((one: Json) => [one.event_id, one.deliveries.length])).toEqual(
      ids.map((id) => [id, 2]),
    );
    expect(await missedAt(endpoint)).toBe(0);
    const [[delivery]] = json.data.map((one: Json) => one.deliveries);
    expect((await get(`/v1/deliveries/${delivery}`)).origin).toBe('replay');
    const to = { event_ids: [ids[0]], webhook_endpoint_id: endpoint.id };
    const one = await call(account, 'POST', '/v1/events/replay', { body: to });
    expect(one.json.data[0].deliveries).toHaveLength(1);
  });

  test('queues a bounded number of deliveries', async () => {
    const events = await sendEvents(11);
    await service.db.pool.query(
      `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
       select $1, gen_random_uuid(), 'http://127.0.0.1:9/', '{*}', '{}', 'enabled', '2026-11-01', now()
       from generate_series(1, 1000)`,
      [account.accountUuid],
    );
    const body = { event_ids: events };
    const { status, json } = await call(account, 'POST', '/v1/events/replay', { body });
    expect([status, json.error?.param]).toEqual([400, 'event_ids']);
    expect(await listed('delivery=pending')).toEqual([]);
  });

  test('queues none if one does not exist', async () => {
    const endpoint = await createEndpoint();
    const [id] = await sendEvents(1);
    await endPending(endpoint, 'failed');
    const body = { event_ids: [id, 'evt_none'] };
    const { status, json } = await call(account, 'POST', '/v1/events/replay', { body });
    expect([status, json.error.code]).toEqual([404, 'resource_missing']);
    expect(await missedAt(endpoint)).toBe(1);
    for (const event_ids of [[], Array.from({ length: 101 }, () => id)]) {
      expect((await call(account, 'POST', '/v1/events/replay', { body: { event_ids } })).status).toBe(400);
    }
  });
});
