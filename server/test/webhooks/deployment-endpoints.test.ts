import { createOperator, webhooks } from '@simplane/sdk';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { deployment } from '../../src/accounts/deployment.ts';
import { queueForDeployment } from '../../src/notify/webhooks/deployment-deliveries.ts';
import { reportHealth } from '../../src/notify/webhooks/endpoints/report-health.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const base = '/v1/operator/webhook_endpoints';
const [iccidA, iccidB] = ['8999901000000000018', '8999901000000000026'];

type Target = { url: string; key: string };

let service: TestService;
let receiver: Receiver;
let operator: Target;
let tenant: Target & { accountUuid: string };
let workers: { stop(timeoutMs: number): Promise<void> }[] = [];

beforeAll(async () => {
  service = await startService();
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
});
afterAll(() => service.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  tenant = { url: service.url, ...(await service.createAccount('Tenant')) };
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  workers = [];
  const { data } = (await call(operator, 'GET', base)).json;
  for (const { id } of data) await call(operator, 'DELETE', `${base}/${id}`);
  await service.db.pool.query('delete from delivery_queue');
  await receiver.stop();
});

async function createEndpoint(body: object = {}) {
  const { status, json } = await call(operator, 'POST', base, {
    body: { url: `${receiver.url}/hook`, enabled_event_types: ['*'], ...body },
  });
  expect(status).toBe(201);
  return json as { id: string; secret: string };
}

/** Returns the id of an event of this account. */
async function publish(about: object = {}, target: Target = tenant, type = 'esim.test'): Promise<string> {
  return (await call(target, 'POST', '/v1/events/test', { body: { type, data: about } })).json.id;
}

/** What the workers do after events were committed. */
async function queue(): Promise<void> {
  await sequenceEvents(service);
  await queueForDeployment(service.service);
}

const startSender = (overrides: Parameters<TestService['startSender']>[0] = {}) =>
  workers.push(service.startSender(overrides));
const arrivals = () => receiver.received.map(({ body }) => JSON.parse(body));
const arrived = (count: number) =>
  until(
    async () => arrivals(),
    ({ length }) => length >= count,
  );
const deliveriesTo = async (id: string, query = '') =>
  (await call(operator, 'GET', `${base}/${id}/deliveries?limit=100${query}`)).json.data;

/** How many deliveries wait for the endpoint of which the event is found. */
async function countSendable(id: string): Promise<number> {
  const { rows } = await service.db.pool.query(
    `select count(*)::integer
     from (
       select endpoint_id, event_account_id, event_id from delivery_queue
       union all
       select endpoint_id, event_account_id, event_id from blocked_deliveries) waiting
     join events e on e.account_id = waiting.event_account_id and e.id = waiting.event_id
     where waiting.endpoint_id = $1`,
    [uuidOfId('we', id)],
  );
  return rows[0].count;
}

/** Returns how many deliveries it queued. */
async function recover(id: string, body: object = {}, batchSize = 500): Promise<number> {
  const { headers } = await call(operator, 'POST', `${base}/${id}/recover`, { body });
  // It begins when all older transactions of the server have ended, also those of other tests.
  const recovery = await until(
    async () => {
      await runRecoveries(service.db, { ...service.service, batchSize });
      return (await call(operator, 'GET', headers.get('location') ?? '')).json;
    },
    ({ status }) => status === 'succeeded',
  );
  return recovery.queued_count;
}

describe('an endpoint of the deployment', () => {
  test('gets the events of all accounts from its creation on, signed, with the account in front', async () => {
    await publish();
    await sequenceEvents(service);
    const { id, secret } = await createEndpoint();
    startSender();
    const sequencer = service.startSequencer();
    workers.push(sequencer);
    const ids = [await publish(), await publish({}, service)];
    await arrived(2);
    expect(
      arrivals()
        .map((event) => event.id)
        .sort(),
    ).toEqual([...ids].sort());
    for (const { headers, body } of receiver.received) {
      const event = await webhooks.verify(body, headers['service-signature'] as string, secret);
      const own = event.id === ids[0] ? tenant : service;
      const stored = (await call(own, 'GET', `/v1/events/${event.id}`)).text;
      expect(body).toBe(`{"account_id":"${idOfUuid('acct', own.accountUuid)}",${stored.slice(1)}`);
      expect(headers['webhook-id']).toBe(event.id);
    }
    await until(
      () => deliveriesTo(id, '&status=succeeded'),
      ({ length }) => length === 2,
    );
  });

  test('gets only what it subscribes to, by name, family or all', async () => {
    const ids = await Promise.all(
      [['esim.test'], ['esim.*'], ['*'], ['bundle.*', 'esim.other']].map(
        async (types) => (await createEndpoint({ enabled_event_types: types })).id,
      ),
    );
    await publish();
    await queue();
    const counts = await Promise.all(ids.map(async (id) => (await deliveriesTo(id)).length));
    expect(counts).toEqual([1, 1, 1, 0]);
  });

  test('continues where it was when it is enabled again: nothing of the time in between is lost or doubled', async () => {
    const { id } = await createEndpoint();
    startSender();
    await publish();
    await queue();
    await arrived(1);
    await call(operator, 'PATCH', `${base}/${id}`, { body: { status: 'disabled' } });
    const missed = [await publish(), await publish({}, service)];
    await queue();
    expect(await deliveriesTo(id)).toHaveLength(1);
    await call(operator, 'POST', `${base}/${id}/enable`);
    await queue();
    await queue();
    await arrived(3);
    const seen = arrivals().map((event) => event.id);
    expect([seen.length, new Set(seen.slice(1))]).toEqual([3, new Set(missed)]);
  });

  test('with `ordering: esim` gets the events of an eSIM one after the other, in the order of the feed', async () => {
    const { id } = await createEndpoint({ ordering: 'esim' });
    const first = await publish({ iccid: iccidA, n: 1 });
    await publish({ iccid: iccidA, n: 2 });
    await publish({ iccid: iccidB, n: 3 });
    await queue();
    let isFailing = true;
    receiver.answer((response, { body }) => {
      response.statusCode = isFailing && JSON.parse(body).data.n === 1 ? 500 : 200;
      response.end();
    });
    startSender({ retryScheduleMs: [3_600_000] });
    await until(
      async () => arrivals().map(({ data }) => data.n),
      (seen) => seen.includes(3) && seen.includes(1),
    );
    expect(arrivals().map(({ data }) => data.n)).not.toContain(2);
    const waiting = (await deliveriesTo(id)).find((one: { blocked_by: string | null }) => one.blocked_by);
    expect((await call(operator, 'GET', `/v1/operator/deliveries/${waiting.blocked_by}`)).json.event_id).toBe(
      first,
    );
    isFailing = false;
    await call(operator, 'POST', `/v1/operator/deliveries/${waiting.blocked_by}/retry`);
    await until(
      async () => arrivals().map(({ data }) => data.n),
      (seen) => seen.includes(2),
    );
  });

  test.each(['none', 'esim'])(
    'with ordering %s gets by recover what failed and what was canceled',
    async (ordering) => {
      const { id } = await createEndpoint({ ordering });
      receiver.answer((response) => {
        response.statusCode = 500;
        response.end();
      });
      const failing = service.startSender({ retryScheduleMs: [] });
      const failed = await publish({ iccid: iccidA });
      await queue();
      await until(
        () => deliveriesTo(id, '&status=failed'),
        ({ length }) => length === 1,
      );
      await failing.stop(0);
      const canceled = await publish({ iccid: iccidB });
      await queue();
      await call(operator, 'PATCH', `${base}/${id}`, { body: { status: 'disabled' } });
      expect(await deliveriesTo(id, '&status=canceled')).toHaveLength(1);
      await call(operator, 'POST', `${base}/${id}/enable`);
      expect((await call(operator, 'GET', `${base}/${id}`)).json.missed_count).toBe(2);
      expect([await recover(id), await countSendable(id)]).toEqual([2, 2]);
      receiver.received.length = 0;
      receiver.answer((response) => response.end());
      startSender();
      await arrived(2);
      const account_id = idOfUuid('acct', tenant.accountUuid);
      expect(new Set(arrivals().map((event) => [event.id, event.account_id].join()))).toEqual(
        new Set([failed, canceled].map((event) => [event, account_id].join())),
      );
    },
  );

  test('gets by recover since a time nothing from before it', async () => {
    const { id } = await createEndpoint();
    await service.db.pool.query(
      `with old as (
         insert into events (account_id, id, type, created_at, body)
         select $1, uuid_v7(at), 'a.b', at, '{"id":"evt_x"}' from (values (now() - interval '2 hours'), (now())) given (at)
         returning account_id, id)
       insert into deliveries
         (account_id, id, event_id, event_account_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
       select $2, uuid_v7(now()), id, account_id, $3, 'failed', 'event', 1, now(), now() from old`,
      [tenant.accountUuid, deployment.uuid, uuidOfId('we', id)],
    );
    await sequenceEvents(service);
    const since = Math.floor(Date.now() / 1_000) - 3_600;
    expect([await recover(id, { since }), await recover(id)]).toEqual([1, 1]);
  });

  test('gets by recover once what failed twice', async () => {
    const { id } = await createEndpoint();
    await service.db.pool.query(
      `with failed as (
         insert into events (account_id, id, type, created_at, body)
         values ($1, uuid_v7(now()), 'a.b', now(), '{"id":"evt_x"}')
         returning account_id, id)
       insert into deliveries
         (account_id, id, event_id, event_account_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
       select $2, uuid_v7(now()), failed.id, failed.account_id, $3, 'failed', 'event', 1, now(), now()
       from failed, generate_series(1, 2)`,
      [tenant.accountUuid, deployment.uuid, uuidOfId('we', id)],
    );
    await sequenceEvents(service);
    expect(await recover(id)).toBe(1);
  });

  test('gets by recover what it missed before events that are no longer stored', async () => {
    const { id } = await createEndpoint();
    for (let n = 1; n <= 2; n++) await publish({ iccid: iccidA, n });
    await sequenceEvents(service);
    await service.db.pool.query(
      `with removed as (select $1::uuid as account_id, uuid_v7(now()) as id from generate_series(1, 2))
       insert into deliveries
         (account_id, id, event_id, event_account_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
       select $2, uuid_v7(now()), id, account_id, $3, 'failed', 'event', 1, now(), now()
       from (select account_id, id from events where account_id = $1 union all select account_id, id from removed) missed`,
      [tenant.accountUuid, deployment.uuid, uuidOfId('we', id)],
    );
    expect(await recover(id, { since: Math.floor(Date.now() / 1_000) - 3_600 }, 2)).toBe(2);
  });

  test('gets a blocked event by retry at once, and another one by retry after it was skipped', async () => {
    const { id } = await createEndpoint({ ordering: 'esim' });
    for (let n = 1; n <= 3; n++) await publish({ iccid: iccidA, n });
    await queue();
    const waiting = await deliveriesTo(id);
    const blocked = waiting.filter((one: { blocked_by: string | null }) => one.blocked_by !== null);
    expect(blocked).toHaveLength(2);
    await call(operator, 'POST', `/v1/operator/deliveries/${blocked[0].id}/skip`);
    const retried = [];
    for (const delivery of blocked)
      retried.push((await call(operator, 'POST', `/v1/operator/deliveries/${delivery.id}/retry`)).json);
    expect(retried.map(({ status, blocked_by }) => [status, blocked_by])).toEqual(
      Array(2).fill(['pending', null]),
    );
    expect(await countSendable(id)).toBe(3);
  });

  test('shows what failed or was canceled as missed, and gets it by retry and recover', async () => {
    const { id } = await createEndpoint();
    const events = [await publish(), await publish({}, service), await publish()];
    await queue();
    for (const delivery of await deliveriesTo(id)) {
      expect((await call(operator, 'POST', `/v1/operator/deliveries/${delivery.id}/skip`)).json.status).toBe(
        'canceled',
      );
    }
    const shown = (await call(operator, 'GET', `${base}/${id}`)).json;
    expect([shown.missed_count, typeof shown.missed_since]).toEqual([3, 'number']);
    expect((await call(operator, 'GET', `${base}/${id}/undelivered`)).json).toMatchObject({ event_count: 3 });
    const preview = await call(operator, 'POST', `${base}/${id}/recover`, { body: { dry_run: true } });
    expect(preview.json.event_count).toBe(3);
    const [newest] = await deliveriesTo(id);
    const retried = await call(operator, 'POST', `/v1/operator/deliveries/${newest.id}/retry`);
    expect([retried.status, retried.headers.get('location')]).toEqual([
      202,
      `/v1/operator/deliveries/${retried.json.id}`,
    ]);
    const { json, headers } = await call(operator, 'POST', `${base}/${id}/recover`, { body: {} });
    // It begins when all older transactions of the server have ended, also those of other tests.
    const recovery = await until(
      async () => {
        await runRecoveries(service.db, service.service);
        return (await call(operator, 'GET', headers.get('location') ?? '')).json;
      },
      ({ status }) => status !== 'queued',
    );
    expect([recovery.id, recovery.status, recovery.queued_count]).toEqual([json.id, 'succeeded', 2]);
    startSender();
    await arrived(3);
    expect(
      arrivals()
        .map((event) => event.id)
        .sort(),
    ).toEqual([...events].sort());
    expect(arrivals().every((event) => event.account_id.startsWith('acct_'))).toBe(true);
    await until(
      async () => (await call(operator, 'GET', `${base}/${id}`)).json.missed_count,
      (count) => count === 0,
    );
  });

  test('is told of another one’s failure, once and without an account', async () => {
    const { id } = await createEndpoint({ enabled_event_types: ['a.b'] });
    await createEndpoint({ enabled_event_types: ['webhook_endpoint.*'] });
    await service.db.pool.query(
      `update webhook_endpoints set failing_since = 'epoch', failure_count = 99 where account_id = $1 and id = $2`,
      [deployment.uuid, uuidOfId('we', id)],
    );
    await reportHealth(service.db, service.service, { afterMs: 0, minFailures: 1 });
    await queue();
    startSender();
    await arrived(1);
    await queue();
    const queued = async () => {
      const text = 'select count(*)::integer from delivery_queue where event_account_id is null';
      return (await service.db.pool.query(text)).rows[0].count;
    };
    await expect.poll(queued).toBe(0); // its result is stored a moment after its arrival
    expect(receiver.received).toHaveLength(1);
    expect(receiver.received[0]?.body).toMatch(/^\{"account_id":null,"id":"evt_/);
    const page = await call(operator, 'GET', '/v1/operator/events/feed?after=start&type=webhook_endpoint.*');
    expect(page.json.data).toEqual(arrivals());
  });

  test('is probed with a signed request, and has its secret rotated', async () => {
    const { id, secret } = await createEndpoint();
    const probed = (await call(operator, 'POST', `${base}/${id}/probe`)).json;
    expect(probed.outcome).toBe('succeeded');
    const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]];
    await webhooks.verify(body, headers['service-signature'] as string, secret);
    expect(body).toMatch(/^\{"account_id":null,/);
    const rotated = (await call(operator, 'POST', `${base}/${id}/rotate_secret`, { body: {} })).json;
    expect([rotated.secret === secret, rotated.secrets.length]).toEqual([false, 2]);
  });

  test('is managed with the SDK', async () => {
    const sdk = createOperator({ apiKey: operator.key, baseUrl: operator.url });
    const { id } = await sdk.webhookEndpoints.create({ url: receiver.url, enabled_event_types: ['*'] });
    await publish();
    await queue();
    const [delivery] = (await sdk.webhookEndpoints.listDeliveries(id)).data;
    expect((await sdk.deliveries.get(delivery?.id ?? '')).status).toBe('pending');
    expect((await sdk.webhookEndpoints.list()).data.map((one) => one.id)).toEqual([id]);
    expect(await sdk.webhookEndpoints.delete(id)).toMatchObject({ deleted: true });
  });

  test('is one of at most 50', async () => {
    await createEndpoint();
    await service.db.pool.query(
      `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
       select account_id, uuid_v7(now()), url, enabled_event_types, metadata, status, api_version, now()
       from webhook_endpoints, generate_series(1, 49) where account_id = $1`,
      [deployment.uuid],
    );
    const { status, json } = await call(operator, 'POST', base, {
      body: { url: receiver.url, enabled_event_types: ['*'] },
    });
    expect([status, json.error.code]).toEqual([409, 'endpoint_limit_reached']);
    expect(json.error.message).toContain('The deployment has reached');
    await service.db.pool.query('delete from webhook_endpoints where account_id = $1', [deployment.uuid]);
  });
});

describe('what is queued', () => {
  test('is at most a thousand for an endpoint that does not take it, and the rest follows when it does', async () => {
    const { id } = await createEndpoint();
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7(now()), 'a.b', now(), '{"id":"evt_x"}' from generate_series(1, 2100)`,
      [tenant.accountUuid],
    );
    await queue();
    const count = async () =>
      (
        await service.db.pool.query('select count(*)::integer from delivery_queue where endpoint_id = $1', [
          uuidOfId('we', id),
        ])
      ).rows[0].count;
    expect(await count()).toBe(1_000);
    await service.db.pool.query('delete from delivery_queue');
    await queueForDeployment(service.service);
    expect(await count()).toBe(1_000);
    await service.db.pool.query('delete from delivery_queue');
    await queueForDeployment(service.service);
    expect(await count()).toBe(100);
  });

  test.each([
    ['fails', 'none', 'update delivery_queue set attempt_count = 1'],
    ['gets the events of an eSIM in their order', 'esim', 'select'],
  ])('is at most a thousand for an endpoint that %s', async (_, ordering, change) => {
    const { id } = await createEndpoint({ ordering });
    await service.db.pool.query(
      `insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7(now()), 'a.b', now(), $2 from generate_series(1, 2100)`,
      [tenant.accountUuid, JSON.stringify({ id: 'evt_x', data: { iccid: iccidA } })],
    );
    for (let turn = 0; turn < 2; turn++) {
      await queue();
      await service.db.pool.query(change);
    }
    const { rows } = await service.db.pool.query(
      `select (select count(*) from delivery_queue where endpoint_id = $1)::integer
         + (select count(*) from blocked_deliveries where endpoint_id = $1)::integer as waiting`,
      [uuidOfId('we', id)],
    );
    expect(rows).toEqual([{ waiting: 1_000 }]);
  });

  test('is announced to the senders of every process', async () => {
    await createEndpoint();
    await publish();
    await sequenceEvents(service);
    const announced: unknown[][] = [];
    const signals = { announce: (...signal: unknown[]) => announced.push(signal) };
    for (let turn = 0; turn < 2; turn++) await queueForDeployment({ ...service.service, signals });
    expect(announced).toEqual([['deliveries', deployment.uuid]]);
  });

  test('is queued once by two processes, and again by none after one was killed', async () => {
    const { id } = await createEndpoint();
    await publish();
    await sequenceEvents(service);
    const first = await service.db.pool.connect();
    const counts: number[] = [];
    for (const end of ['rollback', 'commit'] as const) {
      await first.query('begin');
      await queueForDeployment({ ...service.service, db: oneStatementOf(first) });
      const second = queueForDeployment(service.service);
      await untilLockIsAwaited(service);
      await first.query(end);
      await second;
      counts.push((await deliveriesTo(id)).length);
      await service.db.pool.query('delete from delivery_queue');
      await publish();
      await sequenceEvents(service);
    }
    first.release();
    expect(counts).toEqual([1, 1]);
  });
});

/** Runs one statement on the client, and finds nothing more. */
function oneStatementOf(client: pg.PoolClient) {
  let isFirst = true;
  const query = async ({ text }: { text: string }, values: unknown[] = []) => {
    if (!isFirst) return [];
    isFirst = false;
    return (await client.query(text, values)).rows;
  };
  return { query } as never;
}

describe('an account', () => {
  test('sees neither the deployment’s endpoints nor their deliveries, anywhere', async () => {
    const { id } = await createEndpoint();
    const event = await publish({ iccid: iccidA });
    await queue();
    const [delivery] = await deliveriesTo(id);
    const get = async (path: string) => (await call(tenant, 'GET', path)).json;
    expect((await get('/v1/webhook_endpoints')).data).toEqual([]);
    expect((await get(`/v1/webhook_endpoints/${id}`)).error.code).toBe('resource_missing');
    expect((await get(`/v1/webhook_endpoints/${id}/deliveries`)).error.code).toBe('resource_missing');
    expect((await get(`/v1/deliveries/${delivery.id}`)).error.code).toBe('resource_missing');
    for (const retry of ['retry', 'skip'])
      expect((await call(tenant, 'POST', `/v1/deliveries/${delivery.id}/${retry}`)).status).toBe(404);
    expect((await get(`/v1/events/${event}/deliveries`)).data).toEqual([]);
    expect((await get('/v1/events?delivery=pending')).data).toEqual([]);
    expect((await get(`/v1/events?delivery=pending&iccid=${iccidA}`)).data).toEqual([]);
    await call(operator, 'POST', `/v1/operator/deliveries/${delivery.id}/skip`);
    for (const state of ['canceled', 'undelivered', 'failed'])
      expect((await get(`/v1/events?delivery=${state}`)).data).toEqual([]);
    for (const q of [id, delivery.id]) expect((await get(`/v1/search?q=${q}`)).data).toEqual([]);
    expect((await call(tenant, 'POST', `/v1/events/${event}/replay`, { body: {} })).json.deliveries).toEqual(
      [],
    );
    const named = await call(tenant, 'POST', `/v1/events/${event}/replay`, {
      body: { webhook_endpoint_id: id },
    });
    expect(named.status).toBe(404);
    const health = await call(operator, 'GET', '/v1/operator/endpoint_health?limit=100');
    expect(health.json.data.map((one: { id: string }) => one.id)).not.toContain(id);
    expect((await call(tenant, 'POST', base, { body: {} })).status).toBe(403);
  });

  test('is served while every endpoint of the deployment hangs', async () => {
    const hanging = await startReceiver();
    hanging.answer(() => {});
    for (let n = 0; n < 10; n++) await createEndpoint({ url: `${hanging.url}/${n}` });
    workers.push(service.startSender({ concurrency: 16 }), service.startSequencer());
    for (let n = 0; n < 20; n++) await publish();
    await until(
      async () => hanging.received.length,
      (count) => count > 0,
    );
    await call(tenant, 'POST', '/v1/webhook_endpoints', {
      body: { url: `${receiver.url}/own`, enabled_event_types: ['*'] },
    });
    const ids = [await publish(), await publish(), await publish()];
    await arrived(3);
    expect(
      arrivals()
        .map((event) => event.id)
        .sort(),
    ).toEqual([...ids].sort());
    await hanging.stop();
  });
});

// The last one: it leaves a hole in the deployment's feed.
test('an endpoint whose place has expired goes on with the oldest event that is kept', async () => {
  const { id } = await createEndpoint();
  await publish();
  await sequenceEvents(service);
  // As if these and a thousand more had expired while it was disabled: more than it looks at in one statement.
  await service.db.pool.query(
    `update event_feed_heads
     set last_position = last_position + 1000, expired_through = last_position + 1000
     where account_id = $1`,
    [deployment.uuid],
  );
  const kept = await publish();
  await queue();
  expect((await deliveriesTo(id)).map((delivery: { event_id: string }) => delivery.event_id)).toEqual([kept]);
});
