import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Committed } from '../../src/notify/events/hand-over.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Receiver;
let claims: number;
beforeEach(async () => {
  service = await startService();
  receiver = await startReceiver();
  claims = 0;
});
afterEach(async () => {
  await receiver.stop();
  await service.stop();
});

/** A sender whose claims are counted. */
function startSender() {
  const { db } = service;
  return service.startSender({
    db: {
      ...db,
      query(statement, values) {
        if (statement.name === 'delivery_claim') claims += 1;
        return db.query(statement, values);
      },
    },
  });
}

async function createEndpoint(): Promise<{ id: string; secret: string }> {
  const body = { url: `${receiver.url}/first`, enabled_event_types: ['*'] };
  return (await call(service, 'POST', '/v1/webhook_endpoints', { body })).json;
}

/** Publishes an event, and waits until its result is stored. Returns what was received. */
async function publish(from: Pick<TestService, 'url' | 'key'> = service) {
  const before = receiver.received.length;
  const body = { type: 'esim.provisioned', data: {} };
  const event = (await call(from, 'POST', '/v1/events/test', { body })).json;
  await until(
    async () =>
      (await call(service, 'GET', `/v1/events/${event.id}/deliveries`)).json.data as { status: string }[],
    (deliveries) => deliveries.length > 0 && deliveries.every(({ status }) => status === 'succeeded'),
  );
  return receiver.received.slice(before).filter(({ body }) => JSON.parse(body).id === event.id);
}

/** Publishes events until one was sent without a claim. The regular scan may claim at any time. */
async function publishUntilHandedOver(): Promise<void> {
  for (let n = 0; n < 50; n++) {
    const before = claims;
    expect(await publish()).toHaveLength(1);
    if (claims === before) return;
  }
  throw new Error('each event needed a claim');
}

test('the process that commits an event sends it without a claim, once', async () => {
  startSender();
  await createEndpoint();
  for (let n = 0; n < 5; n++) await publishUntilHandedOver();
});

test('so does the process that ends an order', async () => {
  startSender();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  await createEndpoint();
  await publishUntilHandedOver();
  for (let n = 1; ; n++) {
    const before = [claims, receiver.received.length] as const;
    await provision(service);
    await until(
      async () => receiver.received.length,
      (count) => count === before[1] + 1,
    );
    if (claims === before[0]) break;
    expect(n).toBeLessThan(50);
  }
});

test('a delivery that has to wait for those before it is not offered to the sender', async () => {
  const offered: Committed[] = [];
  service.service.handOver.onCommit((committed) => {
    offered.push(committed);
    return true;
  });
  const plain = await createEndpoint();
  const body = { url: receiver.url, enabled_event_types: ['*'], ordering: 'esim' };
  expect((await call(service, 'POST', '/v1/webhook_endpoints', { body })).status).toBe(201);
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  await call(service, 'POST', '/v1/events/test', {
    body: { type: 'esim.suspended', data: { iccid: '8999901000000000018' } },
  });
  await provision(service);
  await until(
    async () => offered.map(({ event }) => event.type),
    (types) => types.length === 2,
  );
  for (const { deliveries } of offered)
    expect(deliveries.map((queued) => idOfUuid('we', queued.endpoint_id))).toEqual([plain.id]);
});

test('an endpoint that was changed gets its next event at its new URL', async () => {
  startSender();
  const { id } = await createEndpoint();
  for (let n = 0; n < 3; n++) {
    await publishUntilHandedOver();
    const url = `${receiver.url}/${n}`;
    expect((await call(service, 'PATCH', `/v1/webhook_endpoints/${id}`, { body: { url } })).status).toBe(200);
    expect(await publish()).toMatchObject([{ path: `/${n}` }]);
  }
});

test('the next event after a rotation is signed with the new secret, and with the old one until that ends', async () => {
  startSender();
  const { id, secret: first } = await createEndpoint();
  await publishUntilHandedOver();
  const rotated = await call(service, 'POST', `/v1/webhook_endpoints/${id}/rotate_secret`, {
    body: { expires_in: 60 },
  });
  const { secret: second } = rotated.json;
  const isSigned = ({ body, headers }: Receiver['received'][0], secret: string) => {
    // The library compares with its own clock.
    const signature = new Webhook(secret).sign(
      String(headers['webhook-id']),
      new Date(Number(headers['webhook-timestamp']) * 1_000),
      body,
    );
    return String(headers['webhook-signature']).split(' ').includes(signature);
  };
  const both = (await publish())[0] as Receiver['received'][0];
  expect([isSigned(both, first), isSigned(both, second)]).toEqual([true, true]);
  await publishUntilHandedOver();
  service.clock.advance(60_000);
  const later = (await publish())[0] as Receiver['received'][0];
  expect([isSigned(later, first), isSigned(later, second)]).toEqual([false, true]);
});

test('after an interruption, an event whose endpoint another process has leased meanwhile is sent once', async () => {
  const sender = startSender();
  await createEndpoint();
  await publishUntilHandedOver();
  await service.db.pool.query(
    `update endpoint_leases
     set holder = gen_random_uuid(), fence = nextval('endpoint_lease_fences'), leased_until = now() + interval '1 hour'`,
  );
  sender.interrupt();
  const body = { type: 'esim.provisioned', data: {} };
  const event = (await call(service, 'POST', '/v1/events/test', { body })).json;
  // The other process dies without having sent it.
  await service.db.pool.query('delete from endpoint_leases');
  await until(
    async () => {
      sender.wake();
      return (await call(service, 'GET', `/v1/events/${event.id}/deliveries`)).json.data;
    },
    ([delivery]) => delivery.status === 'succeeded',
  );
  expect(receiver.received.filter(({ headers }) => headers['webhook-id'] === event.id)).toHaveLength(1);
});

test('what a claim has found between the commit and the hand-over is not sent again', async () => {
  const sender = startSender();
  await createEndpoint();
  await publishUntilHandedOver();
  // Of the same deployment, and without a sender.
  const other = await startService({ databaseUrl: service.databaseUrl });
  try {
    const sentAtMs = performance.now();
    const scanning = setInterval(() => sender.wake(), 20);
    const received = await publish({ url: other.url, key: service.key }).finally(() =>
      clearInterval(scanning),
    );
    expect(received).toHaveLength(1);
    const rows = await service.db.query<Record<string, string>>({
      name: 'test_last_delivery',
      text: `select d.event_id, d.id as delivery_id, d.endpoint_id, e.xmin::text as endpoint_version
        from deliveries d join webhook_endpoints e on e.id = d.endpoint_id
        order by d.id desc limit 1`,
    });
    const { body } = received[0] as Receiver['received'][0];
    const event = {
      accountUuid: service.accountUuid,
      uuid: String(rows[0]?.['event_id']).replaceAll('-', ''),
      type: 'esim.provisioned',
      createdAt: new Date(),
      body,
      subscriptions: '*',
    };
    const before = receiver.received.length;
    expect(sender.take({ event, isTest: true, sentAtMs, deliveries: rows as never })).toBe(false);
    await publishUntilHandedOver();
    expect(receiver.received.slice(before).filter((one) => one.body === body)).toEqual([]);
  } finally {
    await other.stop();
  }
});
