import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listTriedDeliveries } from '../../src/notify/webhooks/deliveries/sql/deliveries.ts';
import {
  backlogCountLimit,
  type EndpointHealthRow,
  listEndpointHealth,
} from '../../src/notify/webhooks/endpoints/sql/health.ts';
import { createAccountAgents } from '../../src/notify/webhooks/guard/account-agents.ts';
import { createGuardedAgent } from '../../src/notify/webhooks/guard/connector.ts';
import { createNames } from '../../src/notify/webhooks/names/names.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import { createProbes } from '../../src/notify/webhooks/sender/probes.ts';
import { createStatsCollector } from '../../src/notify/webhooks/stats/collect.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { beforeFirst } from '../../src/platform/lists/keyset.ts';
import { call, type Reply } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { removeOld } from '../support/remove-old.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await service.stop();
});

type Json = Reply['json'];

async function createEndpoint(path: string, types = ['*']): Promise<string> {
  const body = { url: `${receiver.url}${path}`, enabled_event_types: types };
  return (await call(service, 'POST', '/v1/webhook_endpoints', { body })).json.id;
}

async function publish(type: string): Promise<string> {
  return (await call(service, 'POST', '/v1/events/test', { body: { type, data: {} } })).json.id;
}

const get = async (path: string): Promise<Json> => (await call(service, 'GET', path)).json;

function deliveriesOf(id: string, isMet: (deliveries: Json[]) => boolean): Promise<Json[]> {
  return until(async () => (await get(`/v1/webhook_endpoints/${id}/deliveries?limit=100`)).data, isMet);
}

describe('the operator’s list of endpoints', () => {
  test('covers all accounts, filters by status and failing, and counts each backlog up to its limit', async () => {
    const { pool } = service.db;
    const other = await service.createAccount('Other');
    const body = { url: 'https://example.com/', enabled_event_types: ['*'] };
    for (const key of [service.key, other.key, service.key]) {
      await call(service, 'POST', '/v1/webhook_endpoints', { body, key });
    }
    const read = (
      filter: Parameters<typeof listEndpointHealth>[1],
      beforeUuid: string | null = null,
      count = 10,
    ) => listEndpointHealth(service.db, filter, { beforeUuid, count });
    const [newest, middle, oldest] = await read({});
    if (!newest || !middle || !oldest) throw new Error('three endpoints exist');
    expect([newest, middle, oldest].map(({ account_id }) => account_id.replaceAll('-', ''))).toEqual([
      service.accountUuid,
      other.accountUuid,
      service.accountUuid,
    ]);
    expect(newest).toMatchObject({ backlog_count: 0, oldest_pending_at: null });
    await pool.query(`update webhook_endpoints set failing_since = now() where id = $1`, [middle.id]);
    await pool.query(`update webhook_endpoints set status = 'disabled' where id = $1`, [oldest.id]);
    const queued = (endpoint: EndpointHealthRow, count: number, attempts: number) =>
      pool.query(
        `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, attempt_count, created_at)
         select $1, uuid_v7('2026-01-01'::timestamptz + n * interval '1 second'), gen_random_uuid(), $2, 'event', $3,
           '2026-01-01'::timestamptz + n * interval '1 second'
         from generate_series($4::integer, $4 + $5 - 1) n`,
        [endpoint.account_id, endpoint.id, attempts, attempts === 0 ? 10 : 1, count],
      );
    await queued(middle, 20, 0);
    await queued(middle, 3, 1);
    await queued(newest, backlogCountLimit + 200, 0);
    await pool.query(
      `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
       select $1, uuid_v7(at), gen_random_uuid(), $2, 'event', '8999901000000000018', at
       from (values ('2026-01-01T00:00:00Z'::timestamptz)) given (at)`,
      [middle.account_id, middle.id],
    );
    expect(await read({})).toMatchObject([
      {
        id: newest.id,
        backlog_count: backlogCountLimit,
        oldest_pending_at: new Date('2026-01-01T00:00:10Z'),
      },
      { id: middle.id, backlog_count: 24, oldest_pending_at: new Date('2026-01-01T00:00:00Z') },
      { id: oldest.id, backlog_count: 0, oldest_pending_at: null },
    ]);
    const idsOf = async (filter: Parameters<typeof listEndpointHealth>[1]) =>
      (await read(filter)).map(({ id }) => id);
    expect(await idsOf({ failing: true })).toEqual([middle.id]);
    expect(await idsOf({ failing: false })).toEqual([newest.id, oldest.id]);
    expect(await idsOf({ status: 'disabled' })).toEqual([oldest.id]);
    expect(await idsOf({ status: 'enabled', failing: false })).toEqual([newest.id]);
    expect((await read({}, newest.id, 1)).map(({ id }) => id)).toEqual([middle.id]);
    await pool.query('delete from delivery_queue');
    await pool.query('delete from blocked_deliveries');
    await pool.query('delete from webhook_endpoints');
  });
});

describe('the attempts of an endpoint', () => {
  let id: string;
  let path: string;
  /** Newest delivery first, the last attempt first. */
  let expected: { delivery_id: string; number: number; outcome: string }[];

  async function pages(query: string, between = async () => {}): Promise<Json[]> {
    const items: Json[] = [];
    let cursor = '';
    for (;;) {
      const page = await get(`${path}?limit=2${query}${cursor}`);
      items.push(...page.data);
      if (!page.has_more) return items;
      cursor = `&starting_after=${encodeURIComponent(page.next_cursor)}`;
      await between();
    }
  }

  const keysOf = (items: Json[]) =>
    items.map(({ delivery_id, number, outcome }) => ({ delivery_id, number, outcome }));

  beforeAll(async () => {
    service.startSender({ retryScheduleMs: [20, 20, 3_600_000] });
    // Fails as often as the path says, for each event.
    const seen = new Map<string, number>();
    receiver.answer((response, { body }) => {
      const { id: eventId, type } = JSON.parse(body);
      const count = (seen.get(eventId) ?? 0) + 1;
      seen.set(eventId, count);
      response.writeHead(count > Number(type.split('.')[1]) ? 200 : 302).end('answer');
    });
    id = await createEndpoint('/attempts', ['fails.*']);
    path = `/v1/webhook_endpoints/${id}/attempts`;
    for (const type of ['fails.0', 'fails.2', 'fails.9', 'fails.0', 'fails.1']) await publish(type);
    const deliveries = await deliveriesOf(id, (all) =>
      all.every(({ status, attempt_count: count }) => status === 'succeeded' || count === 3),
    );
    expected = deliveries.flatMap(({ id: delivery_id, status, attempt_count: count }) =>
      Array.from({ length: count }, (_, index) => ({
        delivery_id,
        number: count - index,
        outcome: index === 0 && status === 'succeeded' ? 'succeeded' : 'failed',
      })),
    );
  });

  test('are listed once each, newest delivery first, with what the receiver answered', async () => {
    const items = await pages('');
    expect(keysOf(items)).toEqual(expected);
    expect(expected).toHaveLength(1 + 3 + 3 + 1 + 2);
    expect(items[0]).toMatchObject({
      object: 'delivery_attempt',
      webhook_endpoint_id: id,
      event_id: expect.stringMatching(/^evt_/),
      status_code: 200,
      error: null,
      response: 'answer',
    });
    for (const outcome of ['succeeded', 'failed']) {
      expect(keysOf(await pages(`&outcome=${outcome}`))).toEqual(
        expected.filter((attempt) => attempt.outcome === outcome),
      );
    }
    const { next_cursor } = await get(`${path}?limit=1`);
    const other = await call(service, 'GET', `${path}?outcome=failed&starting_after=${next_cursor}`);
    expect(other).toMatchObject({ status: 400, json: { error: { code: 'cursor_invalid' } } });
  });

  test('stay complete while a delivery moves to the history between two pages', async () => {
    const [pending] = await deliveriesOf(id, (all) => all.some(({ status }) => status === 'pending'));
    const waiting = pending.status === 'pending' ? pending : null;
    const open = waiting ?? (await get(`/v1/webhook_endpoints/${id}/deliveries?status=pending`)).data[0];
    let isSkipped = false;
    const items = await pages('&outcome=failed', async () => {
      if (!isSkipped) await call(service, 'POST', `/v1/deliveries/${open.id}/skip`);
      isSkipped = true;
    });
    const failed = expected.filter(({ outcome }) => outcome === 'failed');
    expect(keysOf(items)).toEqual(failed);
    expect((await get(`/v1/deliveries/${open.id}`)).status).toBe('canceled');
    expect(keysOf(await pages('&outcome=failed'))).toEqual(failed);
  });

  test('are found without reading thousands of canceled and succeeded deliveries', async () => {
    const { pool } = service.db;
    for (const status of ['canceled', 'succeeded']) {
      await pool.query(
        `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at,
           duration_ms, status_code)
         select account_id, uuid_v7(now() + n * interval '1 second'), gen_random_uuid(), id, $1, 'event',
           case $1 when 'canceled' then 0 else 1 end, now(), now(), case $1 when 'succeeded' then 1 end, 200
         from webhook_endpoints, generate_series(1, 3000) n where id = $2`,
        [status, uuidOfId('we', id)],
      );
    }
    await pool.query('analyze deliveries');
    const filter = { endpointUuid: uuidOfId('we', id) as string };
    for (const outcome of [undefined, 'succeeded', 'failed'] as const) {
      let plan = '';
      const explained = {
        async query({ text }: { text: string }, values: unknown[]) {
          plan = JSON.stringify((await pool.query(`explain (analyze) ${text}`, values)).rows);
          return [];
        },
      } as unknown as Queryable;
      const page = { fromUuid: beforeFirst, count: 3 };
      await listTriedDeliveries(explained, service.accountUuid, { ...filter, outcome }, page);
      expect(plan).toContain('deliveries_');
      expect(plan).not.toMatch(/Seq Scan on deliveries|Rows Removed by Filter: [1-9]/);
    }
  });
});

describe('the statistics of an endpoint', () => {
  test('count what was sent per hour, with p50 and p99 over all processes, and end with the retention', async () => {
    const id = await createEndpoint('/stats', ['stats.test']);
    const path = `/v1/webhook_endpoints/${id}/stats`;
    receiver.answer((response) => response.end());
    await publish('stats.test');
    await deliveriesOf(id, ([delivery]) => delivery?.status === 'succeeded');
    // The attempt is counted right after it is stored.
    const sent = await until(
      async () => {
        await service.flushStats();
        return get(path);
      },
      ({ succeeded_count: count }) => count === 1,
    );
    expect(sent).toMatchObject({ failed_count: 0, hours: [{ succeeded_count: 1 }] });
    expect(sent.hours[0].hour % 3_600).toBe(0);
    expect(sent.from).toBe(sent.hours[0].hour - 23 * 3_600);

    const at = new Date(sent.hours[0].hour * 1_000 - 3_600_000);
    const attempt = { accountUuid: service.accountUuid, endpointUuid: uuidOfId('we', id) as string, at };
    const processes = [createStatsCollector(service.db), createStatsCollector(service.db)];
    for (const [index, stats] of processes.entries()) {
      for (let n = 0; n < 50; n++) {
        const isSlow = index === 1 && n < 3;
        stats.record({ ...attempt, durationMs: isSlow ? 3_000 : 40, isSuccess: !isSlow });
      }
    }
    await Promise.all(processes.map((stats) => stats.flush()));
    const { p50_ms, p99_ms, hours } = await get(path);
    expect(hours).toHaveLength(2);
    expect(hours[1]).toMatchObject({ hour: at.getTime() / 1_000, succeeded_count: 97, failed_count: 3 });
    expect(hours[1].p50_ms).toBeGreaterThanOrEqual(36);
    expect(hours[1].p50_ms).toBeLessThanOrEqual(44);
    expect(hours[1].p99_ms).toBeGreaterThanOrEqual(2_700);
    expect(hours[1].p99_ms).toBeLessThanOrEqual(3_300);
    expect([p50_ms, p99_ms]).toEqual([hours[1].p50_ms, hours[1].p99_ms]);
    expect((await get(`${path}?hours=1`)).hours).toEqual([hours[0]]);
    expect((await call(service, 'GET', `${path}?hours=721`)).status).toBe(400);

    const later = { db: service.db, clock: { nowMs: () => at.getTime() + 3_600_000 } };
    expect(await removeOld(later, { tables: ['endpoint_hours'], retentionMs: 3_000_000 })).toBe(1);
    expect((await get(path)).hours).toEqual([hours[0]]);
  });

  test('survive a failed flush, and are bounded in memory', async () => {
    const written: unknown[][] = [];
    let isDown = true;
    const db = {
      async query(_: unknown, values: unknown[]) {
        if (isDown) throw new Error('down');
        written.push(values);
        return [];
      },
    } as unknown as Parameters<typeof createStatsCollector>[0];
    const stats = createStatsCollector(db, { maxEntries: 4 });
    const record = (n: number) => {
      const endpointUuid = `00000000-0000-7000-8000-00000000000${n}`;
      const attempt = { accountUuid: endpointUuid, endpointUuid, at: new Date(0) };
      stats.record({ ...attempt, durationMs: 1, isSuccess: true });
    };
    // The length in the header of a binary array.
    const rowsIn = (values: unknown[] | undefined) => (values as [Buffer])[0].readInt32BE(12);
    record(0);
    await expect(stats.flush()).rejects.toThrow('down');
    isDown = false;
    await stats.flush();
    await stats.flush();
    expect(written.map(rowsIn)).toEqual([1]);
    isDown = true;
    for (let n = 0; n < 9; n++) record(n);
    await expect(stats.flush()).rejects.toThrow('down');
    isDown = false;
    await stats.flush();
    expect(written.map(rowsIn)).toEqual([1, 4]);
  });
});

describe('a recovery with dry_run', () => {
  test('counts by type what a recovery then queues, also for a disabled endpoint, and changes nothing', async () => {
    const id = await createEndpoint('/missed', ['missed.*']);
    const path = `/v1/webhook_endpoints/${id}`;
    await call(service, 'PATCH', path, { body: { status: 'disabled' } });
    for (const type of ['missed.a', 'missed.a', 'missed.b', 'other.a']) await publish(type);
    const body = { since: 0, dry_run: true };
    const preview = await call(service, 'POST', `${path}/recover`, { body, idempotencyKey: 'preview' });
    expect(preview.status).toBe(200);
    expect(preview.json).toEqual({
      object: 'recovery_preview',
      webhook_endpoint_id: id,
      since: 0,
      event_count: 3,
      types: [
        { type: 'missed.a', count: 2 },
        { type: 'missed.b', count: 1 },
      ],
      capped: false,
    });
    expect((await get(`${path}/recoveries`)).data).toEqual([]);
    expect((await get(`${path}/deliveries`)).data).toEqual([]);
    await call(service, 'POST', `${path}/enable`);
    const started = await call(service, 'POST', `${path}/recover`, { body: { since: 0 } });
    const finished = await until(
      async () => {
        await runRecoveries(service.db, service.service);
        return get(`/v1/recoveries/${started.json.id}`);
      },
      ({ status }) => status === 'succeeded',
    );
    expect(finished.queued_count).toBe(3);
    // What changes nothing stores no answer under its key.
    const again = await call(service, 'POST', `${path}/recover`, { body, idempotencyKey: 'preview' });
    expect(again.json.event_count).toBe(0);
    expect((await call(service, 'POST', '/v1/webhook_endpoints/we_x/recover', { body })).status).toBe(404);
  });

  test('stops counting at 10,000 events', async () => {
    const id = await createEndpoint('/many', ['many.test']);
    await service.db.pool.query(
      `insert into events (account_id, id, type, body, created_at)
       select $1, uuid_v7(now() - n * interval '1 millisecond'), 'many.test', '{}', now() from generate_series(1, 10001) n`,
      [service.accountUuid],
    );
    const since = Math.floor(service.clock.nowMs() / 1_000) - 3_600;
    const path = `/v1/webhook_endpoints/${id}/recover`;
    const { json } = await call(service, 'POST', path, { body: { since, dry_run: true } });
    expect(json).toMatchObject({
      event_count: 10_000,
      types: [{ type: 'many.test', count: 10_000 }],
      capped: true,
    });
    await service.db.pool.query(`delete from events where type = 'many.test'`);
  });

  test('stops searching at 50,000 events', async () => {
    const id = await createEndpoint('/none', ['none.test']);
    const add = (count: number) =>
      service.db.pool.query(
        `insert into events (account_id, id, type, body, created_at)
         select $1, uuid_v7(now() - n * interval '1 millisecond'), 'many.test', '{}', now() from generate_series(1, $2) n`,
        [service.accountUuid, count],
      );
    const since = Math.floor(service.clock.nowMs() / 1_000) - 3_600;
    const path = `/v1/webhook_endpoints/${id}/recover`;
    const preview = async () => (await call(service, 'POST', path, { body: { since, dry_run: true } })).json;
    await add(49_000);
    expect(await preview()).toMatchObject({ event_count: 0, capped: false });
    await add(2_000);
    expect(await preview()).toMatchObject({ event_count: 0, capped: true });
    await service.db.pool.query(`delete from events where type = 'many.test'`);
  });
});

describe('a probe', () => {
  async function createProbed(path: string) {
    const body = { url: `${receiver.url}${path}`, enabled_event_types: ['none.of.these'] };
    const { id, secret } = (await call(service, 'POST', '/v1/webhook_endpoints', { body })).json;
    return { id, secret, path: `/v1/webhook_endpoints/${id}` };
  }

  const receivedAt = (path: string) => receiver.received.filter((request) => request.path === path);

  test('sends one signed test event, also when disabled, which is in no log, and returns the answer', async () => {
    receiver.answer((response) => response.end('thanks'));
    const { id, secret, path } = await createProbed('/probe');
    await call(service, 'PATCH', path, { body: { status: 'disabled' } });
    const before = await get(path);
    const probe = await call(service, 'POST', `${path}/probe`, { idempotencyKey: 'probe-once' });
    expect(probe.status).toBe(200);
    expect(probe.json).toMatchObject({
      object: 'webhook_probe',
      webhook_endpoint_id: id,
      outcome: 'succeeded',
      status_code: 200,
      error: null,
      response: null, // the receiver's address is private
    });
    const [got] = receivedAt('/probe');
    const headers = got?.headers as Record<string, string>;
    const event = new Webhook(secret).verify(got?.body ?? '', headers) as Json;
    expect(headers['service-signature']).toMatch(/^t=\d+,v1=/);
    expect(headers['webhook-id']).toBe(probe.json.event_id);
    expect(event).toMatchObject({
      id: probe.json.event_id,
      type: 'webhook_endpoint.probe',
      data: { test: true },
    });
    expect((await call(service, 'GET', `/v1/events/${event.id}`)).status).toBe(404);
    expect(await get(path)).toEqual(before);
    expect((await get(`${path}/deliveries`)).data).toEqual([]);

    const again = await call(service, 'POST', `${path}/probe`, { idempotencyKey: 'probe-once' });
    expect(again.text).toBe(probe.text);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(receivedAt('/probe')).toHaveLength(1);
    expect((await call(service, 'POST', '/v1/webhook_endpoints/we_x/probe')).status).toBe(404);
  });

  test('says in words why it failed, and counts neither as a failure nor in the statistics', async () => {
    const { path } = await createProbed('/broken');
    receiver.answer((response) => response.writeHead(500).end());
    expect((await call(service, 'POST', `${path}/probe`)).json).toMatchObject({
      outcome: 'failed',
      status_code: 500,
    });
    await call(service, 'PATCH', path, { body: { url: 'http://127.0.0.1:1/' } });
    expect((await call(service, 'POST', `${path}/probe`)).json).toMatchObject({
      outcome: 'failed',
      status_code: null,
      error: 'connection refused',
    });
    await service.flushStats();
    expect(await get(path)).toMatchObject({ status: 'enabled', failing_since: null, failure_count: 0 });
    expect((await get(`${path}/stats`)).hours).toEqual([]);
  });

  test('never reaches a private address in live', async () => {
    const policy = { allowsHttp: true, allowsPrivate: false, allowedCidrs: [] };
    const agents = createAccountAgents(() => createGuardedAgent(policy));
    const probes = createProbes({
      ...service.service,
      dispatcherOf: agents.agentOf,
      names: createNames(),
      mayShowResponse: () => true,
      userAgent: 'Simplane/test',
      timeoutMs: 5_000,
    });
    const uuid = '01a1e300-8fec-72f5-bbc9-7ded755052d5';
    const url = `${receiver.url}/private`;
    const ids = { account_id: uuid, endpoint_id: uuid, event_id: uuid };
    const sent = await probes.send({ ...ids, url, is_test: true, body: '{}', secrets: '' });
    await agents.destroy();
    expect(sent).toMatchObject({ ok: false, error: 'address not allowed' });
    expect(receivedAt('/private')).toEqual([]);
  });

  test('holds no transaction open, and four of one account leave room for others', async () => {
    const held: { end(): void }[] = [];
    receiver.answer((response) => void held.push(response));
    const { path } = await createProbed('/slow');
    const running = Array.from({ length: 4 }, (_, n) =>
      call(service, 'POST', `${path}/probe`, { idempotencyKey: `slow-${n}` }),
    );
    await until(
      async () => held.length,
      (count) => count === 4,
    );
    const { rows } = await service.db.pool.query(
      `select count(*)::integer as open from pg_stat_activity where datname = current_database() and state like 'idle in%'`,
    );
    expect(rows).toEqual([{ open: 0 }]);
    const { status, json, headers } = await call(service, 'POST', `${path}/probe`);
    expect([status, json.error.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '1']);
    const { key } = await service.createAccount('Neighbour');
    const body = { url: `${receiver.url}/neighbour`, enabled_event_types: ['*'] };
    const { id } = (await call(service, 'POST', '/v1/webhook_endpoints', { body, key })).json;
    const neighbour = call(service, 'POST', `/v1/webhook_endpoints/${id}/probe`, { key });
    await until(
      async () => held.length,
      (count) => count === 5,
    );
    for (const response of held) response.end();
    const statuses = (await Promise.all([...running, neighbour])).map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 200]);
  });
});

test('an endpoint shows when its secrets were made and expire, newest first, and never a secret', async () => {
  const id = await createEndpoint('/ok', ['none.of.these']);
  const path = `/v1/webhook_endpoints/${id}`;
  const [first] = (await get(path)).secrets;
  expect(first).toEqual({ created: expect.any(Number), expires_at: null });
  service.clock.advance(2_000);
  const rotated = await call(service, 'POST', `${path}/rotate_secret`, { body: { expires_in: 3_600 } });
  const { secret, secrets } = rotated.json;
  const now = secrets[0].created;
  expect(now).toBeGreaterThan(first.created);
  expect(secrets).toEqual([
    { created: now, expires_at: null },
    { created: first.created, expires_at: now + 3_600 },
  ]);
  expect((await get(path)).secrets).toEqual(secrets);
  expect(JSON.stringify(await get('/v1/webhook_endpoints'))).not.toContain(secret.slice(6, 20));
  service.clock.advance(3_601_000);
  expect((await get(path)).secrets).toEqual([secrets[0]]);
});
