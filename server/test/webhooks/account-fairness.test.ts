import { afterEach, beforeEach, expect, test } from 'vitest';
import { startWebhooks } from '../../src/background/start-webhooks.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let healthy: Receiver;
let hanging: Receiver;
beforeEach(async () => {
  [service, healthy, hanging] = await Promise.all([startService(), startReceiver(), startReceiver()]);
  hanging.answer(() => {});
});
afterEach(async () => {
  await service.stop();
  await healthy.stop();
  await hanging.stop();
});

type Target = { url: string; key: string };

async function createEndpoint(target: Target, url: string): Promise<string> {
  const body = { url, enabled_event_types: ['*'] };
  const { status, json } = await call(target, 'POST', '/v1/webhook_endpoints', { body });
  expect(status).toBe(201);
  return json.id;
}

/** Stores `count` hanging endpoints of one account, each with a due delivery, as copies of one the API created. */
async function storeHanging(count: number): Promise<void> {
  const { accountUuid, key } = await service.createAccount('Attacker');
  const id = await createEndpoint({ url: service.url, key }, `${hanging.url}/0`);
  await service.db.query(
    {
      name: 'test_hanging',
      text: `with event as (
               insert into events (account_id, id, type, created_at, body)
               values ($1, uuid_v7(now()), 'esim.provisioned', now(), '{}') returning id),
             copied as (
               insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
               select account_id, uuid_v7(now()), url || n, enabled_event_types, metadata, status, api_version, now()
               from webhook_endpoints, generate_series(1, $3) n where id = $2 returning account_id, id)
             insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
             select $1, uuid_v7(now()), event.id, copied.id, 'event', now() from copied, event`,
    },
    [accountUuid, uuidOfId('we', id), count],
  );
}

/** Adds due deliveries to an existing endpoint. */
async function storeBacklog(accountUuid: string, endpointId: string, count: number): Promise<void> {
  await service.db.query(
    {
      name: 'test_backlog',
      text: `with event as (
               insert into events (account_id, id, type, created_at, body)
               values ($1, uuid_v7(now()), 'esim.provisioned', now(), '{}') returning id)
             insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
             select $1, uuid_v7(now()), event.id, $2, 'event', now() from event, generate_series(1, $3)`,
    },
    [accountUuid, uuidOfId('we', endpointId), count],
  );
}

function hangingCount(count: number) {
  return until(
    async () => hanging.received.length,
    (seen) => seen >= count,
    60_000,
  );
}

/** Sends the first event of a new endpoint. */
async function sendFirstEvent(): Promise<void> {
  await createEndpoint(service, `${healthy.url}/first`);
  await sendEvent(1);
}

async function sendEvent(number: number): Promise<void> {
  await call(service, 'POST', '/v1/events/test', { body: { type: 'esim.provisioned', data: {} } });
  await until(
    async () => healthy.received.length,
    (seen) => seen === number,
    60_000,
  );
}

test('the first event of a new endpoint does not wait for another account’s 900 hanging endpoints', async () => {
  await storeHanging(900);
  service.startSender({ concurrency: 1_024, timeoutMs: 60_000 });
  await hangingCount(20);
  await sendFirstEvent();
  // Without round-robin it would arrive after the other account holds its 256 slots, or after all 900.
  expect(hanging.received.length).toBeLessThan(250);
});

test.each([1, 2])(
  'one account never takes all slots of %i senders, so the next account finds one',
  async (senders) => {
    await storeHanging(100);
    for (let i = 0; i < senders; i++) service.startSender({ concurrency: 64, timeoutMs: 90_000 });
    // One account gets half of the 32 slots for unproven endpoints.
    await hangingCount(16 * senders);
    await sendFirstEvent();
    expect(hanging.received).toHaveLength(16 * senders);
  },
);

test('endpoints that worked and then hang take at most half of the proven slots', async () => {
  const { accountUuid, key } = await service.createAccount('Attacker');
  const working = 80; // its lane is at full concurrency by then
  hanging.answer((response, _, count) => {
    if (count <= working) response.end();
  });
  const id = await createEndpoint({ url: service.url, key }, `${hanging.url}/later`);
  await storeBacklog(accountUuid, id, working + 200);
  service.startSender({ concurrency: 64, timeoutMs: 90_000 });
  await sendFirstEvent();
  await hangingCount(working + 16);
  await sendEvent(2);
  expect(hanging.received).toHaveLength(working + 16);
});

test('an endpoint at full concurrency that hangs holds up neither another one on the same host nor its own explicit retry', async () => {
  const working = 80; // its lane is at full concurrency by then
  hanging.answer((response, { path }, count) => {
    if (count <= working || path === '/other') response.end();
  });
  const types = { enabled_event_types: ['esim.suspended'] };
  const body = { url: `${hanging.url}/hanging`, ...types };
  const { json } = await call(service, 'POST', '/v1/webhook_endpoints', { body });
  await storeBacklog(service.accountUuid, json.id, working + 200);
  // As a process starts it, with its connections.
  const { config } = readConfig({ SIMPLANE_WEBHOOK_TIMEOUT: '10m' });
  const sender = startWebhooks(service.service, config, () => {});
  try {
    await hangingCount(working + 64);
    await createEndpoint(service, `${hanging.url}/other`);
    await call(service, 'POST', '/v1/events/test', { body: { type: 'esim.provisioned', data: {} } });
    await hangingCount(working + 65);
    const path = `/v1/webhook_endpoints/${json.id}/deliveries?status=pending&limit=1`;
    const pending = (await call(service, 'GET', path)).json.data[0].id;
    expect((await call(service, 'POST', `/v1/deliveries/${pending}/retry`)).status).toBeLessThan(300);
    await hangingCount(working + 66);
    expect(hanging.received.filter((one) => one.path === '/other')).toHaveLength(1);
  } finally {
    await sender.stop(0);
  }
});
