import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { version } from '../../src/config/version.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import { mayShowResponse } from '../../src/notify/webhooks/sender/attempt.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { allAttempts, allDeliveries } from '../support/all-deliveries.ts';
import { call, type Reply } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let receiver: Receiver;
beforeEach(async () => {
  service = await startService();
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.stop();
  await service.stop();
});

type Target = { url: string; key: string };

async function createEndpoint(types: string[] = ['*'], path = '/hook', target: Target = service) {
  const body = { url: receiver.url + path, enabled_event_types: types };
  const { status, json } = await call(target, 'POST', '/v1/webhook_endpoints', { body });
  expect(status).toBe(201);
  return json as { id: string; secret: string };
}

async function publish(
  type = 'esim.provisioned',
  data: object = { iccid: '8999901000000000018' },
  target: Target = service,
) {
  const { status, json } = await call(target, 'POST', '/v1/events/test', { body: { type, data } });
  expect(status).toBe(202);
  return json as { id: string; type: string };
}

function receivedCount(count: number) {
  return until(
    async () => receiver.received.length,
    (seen) => seen >= count,
  );
}

async function deliveriesOf(eventId: string, target: Target = service) {
  return (await call(target, 'GET', `/v1/events/${eventId}/deliveries`)).json.data;
}

function settledDelivery(eventId: string) {
  return until(
    () => deliveriesOf(eventId),
    ([delivery]) => delivery !== undefined && delivery.status !== 'pending',
  ).then(([delivery]) => delivery);
}

function endpoint(id: string): Promise<Reply['json']> {
  return call(service, 'GET', `/v1/webhook_endpoints/${id}`).then(({ json }) => json);
}

/** Creates an endpoint with `count` due deliveries. */
async function storeBacklog(count: number): Promise<void> {
  const { id } = await createEndpoint();
  await service.db.query(
    {
      name: 'test_backlog',
      text: `with event as (
               insert into events (account_id, id, type, created_at, body)
               select $1, uuid_v7(now()), 'esim.provisioned', now(), '{}' from generate_series(1, $3) returning id)
             insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
             select $1, uuid_v7(now()), event.id, $2, 'event', now() from event`,
    },
    [service.accountUuid, uuidOfId('we', id), count],
  );
}

async function countDeliveries(condition: string): Promise<number> {
  const text = `select from ${allDeliveries} d where ${condition}`;
  return (await service.db.query({ name: `test_count ${condition}`, text })).length;
}

/** A database that counts how many deliveries were claimed through it. */
function countClaims() {
  const counted = {
    claimed: 0,
    db: {
      ...service.db,
      async query<Row extends object>(...args: Parameters<Database['query']>): Promise<Row[]> {
        const rows = await service.db.query<Row>(...args);
        if (args[0].name !== 'delivery_claim') return rows;
        counted.claimed += rows.filter((row) => (row as unknown as { id: string | null }).id !== null).length;
        return rows;
      },
    },
  };
  return counted;
}

test('an endpoint with a long backlog gets at most 64 deliveries at once, and each delivery once', async () => {
  const total = 300;
  await storeBacklog(total);
  const open = new Set<() => void>();
  let [maxOpen, isHolding] = [0, true];
  receiver.answer((response, _, count) => {
    // The first few prove the endpoint; later responses are held until the sender reaches its limit.
    if (count <= 10 || !isHolding) return response.end();
    open.add(() => response.end());
    maxOpen = Math.max(maxOpen, open.size);
  });
  const counted = countClaims();
  service.startSender({ db: counted.db, concurrency: 1_024, timeoutMs: 60_000 });
  await until(
    async () => maxOpen,
    (seen) => seen === 64,
  );
  // The lane also holds up to 64 waiting deliveries.
  expect(counted.claimed - 10).toBeLessThanOrEqual(128);
  isHolding = false;
  for (const respond of open) respond();
  await receivedCount(total);
  expect(maxOpen).toBeLessThanOrEqual(64);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(total);
  expect(receiver.received).toHaveLength(total);
});

test('deliveries waiting for an endpoint that starts to hang are released without a recorded attempt', async () => {
  const total = 300;
  await storeBacklog(total);
  let isHanging = true;
  receiver.answer((response, _, count) => {
    if (count <= 130 || !isHanging) response.end(); // at full concurrency by then
  });
  // Long enough that a good attempt does not time out on a busy machine.
  service.startSender({ concurrency: 1_024, timeoutMs: 10_000, retryScheduleMs: Array(50).fill(20) });
  await receivedCount(131);
  await until(
    () => countDeliveries(`status = 'pending' and attempt_count > 0`),
    (failed) => failed > 0,
  );
  isHanging = false;
  await until(
    () => countDeliveries(`status = 'succeeded'`),
    (succeeded) => succeeded === total,
  );
  const [{ attempts }] = (await service.db.query<{ attempts: number }>({
    name: 'test_attempts',
    text: `select count(*) as attempts from ${allAttempts} a`,
  })) as [{ attempts: number }];
  expect(attempts).toBe(receiver.received.length);
  expect(attempts).toBeGreaterThan(total);
});

test('a delivery whose lease might end during an attempt is released and sent later', async () => {
  const total = 300;
  await storeBacklog(total);
  const held = new Set<() => void>();
  receiver.answer((response, _, count) => {
    if (count > 130 && count <= 130 + 64) held.add(() => response.end());
    else response.end();
  });
  let aheadMs = 0;
  const counted = countClaims();
  const monotonicMs = () => performance.now() + aheadMs;
  service.startSender({ db: counted.db, concurrency: 1_024, monotonicMs });
  await until(
    () => countDeliveries(`status = 'succeeded'`),
    (succeeded) => succeeded === 130,
  );
  const waiting = await until(
    async () => counted.claimed - 130 - held.size,
    (count) => held.size === 64 && count > 0,
  );
  aheadMs = 120_000; // past the end of every lease
  for (const respond of held) respond();
  await receivedCount(total);
  expect(counted.claimed).toBeGreaterThanOrEqual(total + waiting);
  expect(receiver.received).toHaveLength(total);
});

describe('a delivery', () => {
  const stripe = new Stripe('sk_test_unused');

  function verifyWithStripe(body: string, header: string, secret: string, receivedAt?: number) {
    return stripe.webhooks.constructEvent(body, header, secret, 300, undefined, receivedAt);
  }

  test('verifies with Stripe’s and Standard Webhooks’ libraries over the raw body', async () => {
    service.startSender();
    const { secret } = await createEndpoint();
    const event = await publish('esim.provisioned', { iccid: '89', note: 'ünï ✓ "quoted"' });
    await receivedCount(1);
    const [got] = receiver.received;
    const signature = got?.headers['service-signature'] as string;
    expect(signature).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
    expect(got?.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': `Simplane/${version}`,
      'webhook-id': event.id,
    });
    expect(JSON.parse(got?.body ?? '')).toEqual(event);
    expect(verifyWithStripe(got?.body ?? '', signature, secret)).toMatchObject({ id: event.id });
    expect(new Webhook(secret).verify(got?.body ?? '', got?.headers as Record<string, string>)).toEqual(
      event,
    );
  });

  test('fails verification if a byte, the time or the secret differs', async () => {
    service.startSender();
    const { secret } = await createEndpoint();
    await publish();
    await receivedCount(1);
    const { body, headers } = receiver.received[0] as { body: string; headers: Record<string, string> };
    const signature = headers['service-signature'] as string;
    const other = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    expect(() => verifyWithStripe(body.replace('esim', 'esiM'), signature, secret)).toThrow();
    expect(() => verifyWithStripe(body, signature, other)).toThrow();
    expect(() => verifyWithStripe(body, signature, secret, Date.now() + 3_600_000)).toThrow();
    expect(() => new Webhook(secret).verify(body.replace('esim', 'esiM'), headers)).toThrow();
    expect(() => new Webhook(other).verify(body, headers)).toThrow();
    expect(() =>
      new Webhook(secret).verify(body, { ...headers, 'webhook-timestamp': '1700000000' }),
    ).toThrow();
  });

  test('is signed with both secrets during a rotation, and only with the new one afterwards', async () => {
    const sender = service.startSender();
    const { id, secret: old } = await createEndpoint();
    const rotated = await call(service, 'POST', `/v1/webhook_endpoints/${id}/rotate_secret`, {
      body: { expires_in: 600 },
    });
    const fresh = rotated.json.secret as string;
    expect(fresh).not.toBe(old);
    await publish();
    await receivedCount(1);
    const during = receiver.received[0] as { body: string; headers: Record<string, string> };
    for (const secret of [old, fresh]) {
      expect(
        verifyWithStripe(during.body, during.headers['service-signature'] as string, secret),
      ).toBeTruthy();
      expect(new Webhook(secret).verify(during.body, during.headers)).toBeTruthy();
    }
    // A claim that is under way has the time from before.
    await sender.stop(10_000);
    service.clock.advance(601_000);
    service.startSender();
    await publish();
    await receivedCount(2);
    const after = receiver.received[1] as { body: string; headers: Record<string, string> };
    const at = Number(after.headers['webhook-timestamp']) * 1000;
    expect(
      verifyWithStripe(after.body, after.headers['service-signature'] as string, fresh, at),
    ).toBeTruthy();
    expect(() =>
      verifyWithStripe(after.body, after.headers['service-signature'] as string, old, at),
    ).toThrow();
  });

  test('goes only to endpoints subscribed to its type, its family or everything', async () => {
    service.startSender();
    const paths = {
      '/exact': ['bundle.expired'],
      '/family': ['bundle.*'],
      '/all': ['*'],
      '/other': ['esim.*', 'bundle.activated'],
    };
    for (const [path, types] of Object.entries(paths)) await createEndpoint(types, path);
    const event = await publish('bundle.expired');
    await receivedCount(3);
    await until(
      () => deliveriesOf(event.id),
      (rows) => rows.length === 3 && rows.every(({ status }: { status: string }) => status === 'succeeded'),
    );
    expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/all', '/exact', '/family']);
  });
});

test('an attempt shows when it started, not when it ended', async () => {
  const answers: (() => void)[] = [];
  receiver.answer((response) => void answers.push(() => response.end()));
  service.startSender();
  await createEndpoint();
  const event = await publish();
  await receivedCount(1);
  service.clock.advance(3_600_000);
  for (const answer of answers) answer();
  const [{ at }] = (await settledDelivery(event.id)).attempts;
  const signedAt = Number(/^t=(\d+)/.exec(String(receiver.received[0]?.headers['service-signature']))?.[1]);
  expect(Math.abs(at - signedAt)).toBeLessThan(60);
});

test('a response from an internal address is not shown; the attempt has only its status', async () => {
  receiver.answer((response) => response.end('internal'));
  service.startSender({ mayShowResponse });
  await createEndpoint();
  const { attempts } = await settledDelivery((await publish()).id);
  expect(attempts).toMatchObject([{ status_code: 200, response: null }]);
});

describe('a receiver that fails', () => {
  test('with 500 twice and then 200 gets the same bytes three times, with new timestamps and growing delays', async () => {
    receiver.answer((response, _, count) => response.writeHead(count < 3 ? 500 : 200).end(`answer ${count}`));
    service.startSender({ retryScheduleMs: [1_100, 2_200, 4_400], random: () => 0 });
    const { secret } = await createEndpoint();
    const event = await publish();
    const delivery = await settledDelivery(event.id);
    expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 3, next_attempt_at: null });
    expect(
      delivery.attempts.map(({ status_code: code, response }: { status_code: number; response: string }) => [
        code,
        response,
      ]),
    ).toEqual([
      [500, 'answer 1'],
      [500, 'answer 2'],
      [200, 'answer 3'],
    ]);
    const { received } = receiver;
    expect(new Set(received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size).toBe(3);
    for (const { body, headers } of received)
      expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toBeTruthy();
    const [first, second, third] = received.map(({ atMs }) => atMs) as [number, number, number];
    expect(third - second).toBeGreaterThan(second - first);
    expect(second - first).toBeGreaterThanOrEqual(1_100);
  });

  test('by hanging times out', async () => {
    receiver.answer(() => {});
    service.startSender({ timeoutMs: 150, retryScheduleMs: [] });
    await createEndpoint();
    const event = await publish();
    expect(await settledDelivery(event.id)).toMatchObject({
      status: 'failed',
      attempts: [{ status_code: null, error: 'timed out' }],
    });
  });

  test('by redirecting is not followed', async () => {
    receiver.answer((response, { path }) =>
      path === '/hook'
        ? response.writeHead(302, { Location: `${receiver.url}/elsewhere` }).end()
        : response.end(),
    );
    service.startSender({ retryScheduleMs: [] });
    await createEndpoint();
    const event = await publish();
    expect(await settledDelivery(event.id)).toMatchObject({
      status: 'failed',
      attempts: [{ status_code: 302 }],
    });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  test('by sending a gigabyte is cut off, and its status still counts', async () => {
    let sent = 0;
    receiver.answer((response) => {
      const chunk = Buffer.alloc(1 << 20, 'x');
      const more = () => {
        while (!response.destroyed && sent < 1 << 30) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', more);
        }
        response.end();
      };
      response.on('close', () => response.removeAllListeners('drain'));
      more();
    });
    service.startSender();
    await createEndpoint();
    const event = await publish();
    const delivery = await settledDelivery(event.id);
    expect(delivery.status).toBe('succeeded');
    expect(delivery.attempts[0].response).toHaveLength(1024);
    expect(sent).toBeLessThan(64 << 20);
  });

  test('and sends Retry-After is retried later, at most by the next step of the schedule', async () => {
    receiver.answer((response) => response.writeHead(503, { 'Retry-After': '3600' }).end());
    service.startSender({ retryScheduleMs: [1_000, 100_000, 200_000], random: () => 0 });
    await createEndpoint();
    const event = await publish();
    const [delivery] = await until(
      () => deliveriesOf(event.id),
      ([row]) => row?.attempt_count === 1,
    );
    const waitSeconds = delivery.next_attempt_at - Date.now() / 1000;
    expect(waitSeconds).toBeGreaterThan(90);
    expect(waitSeconds).toBeLessThan(101);
  });

  test('beyond the schedule leaves a failed delivery that can be retried', async () => {
    receiver.answer((response) => response.writeHead(500).end());
    service.startSender({ retryScheduleMs: [5, 5] });
    await createEndpoint();
    const event = await publish();
    const failed = await settledDelivery(event.id);
    expect(failed).toMatchObject({ status: 'failed', attempt_count: 3 });
    receiver.answer((response) => response.end());
    const retried = await call(service, 'POST', `/v1/deliveries/${failed.id}/retry`);
    expect(retried.status).toBe(202);
    await until(
      () => deliveriesOf(event.id),
      (rows) => rows.some(({ status }: { status: string }) => status === 'succeeded'),
    );
  });
});

describe('an endpoint that keeps failing', () => {
  const rule = { afterMs: 60_000, minFailures: 6 };

  async function failuresOf(id: string): Promise<number> {
    const [row] = await service.db.query<{ count: number }>(
      {
        name: 'test_failures',
        text: `select coalesce(max(failure_count), 0)::int as count from webhook_endpoints where id = $1`,
      },
      [uuidOfId('we', id)],
    );
    return row?.count ?? 0;
  }

  test('is disabled once the rule applies, with a reason, and the other endpoints get an event', async () => {
    receiver.answer((response, { path }) => response.writeHead(path === '/bad' ? 500 : 200).end());
    service.startSender({ disableRule: rule, retryScheduleMs: Array(20).fill(5) });
    const bad = await createEndpoint(['esim.provisioned'], '/bad');
    await createEndpoint(['webhook_endpoint.disabled'], '/good');
    await publish();
    await until(
      () => failuresOf(bad.id),
      (count) => count >= 6,
    );
    expect(await endpoint(bad.id)).toMatchObject({ status: 'enabled' });
    const announce = vi.spyOn(service.service.signals, 'announce');
    service.clock.advance(61_000);
    const disabled = await until(
      () => endpoint(bad.id),
      ({ status }) => status === 'disabled',
    );
    const announced = () => announce.mock.calls.map((said) => said.map((text) => text?.replaceAll('-', '')));
    await expect
      .poll(announced, { timeout: 60_000 })
      .toContainEqual(['deliveries', service.accountUuid.replaceAll('-', '')]);
    announce.mockRestore();
    expect(disabled.disabled_reason).toMatch(/\d+ attempts since .+ status 500/);
    expect(disabled.disabled_at).toBeGreaterThan(0);
    const notified = await until(
      async () => receiver.received.filter(({ path }) => path === '/good'),
      (rows) => rows.length > 0,
    );
    expect(JSON.parse(notified[0]?.body ?? '')).toMatchObject({
      type: 'webhook_endpoint.disabled',
      data: { webhook_endpoint_id: bad.id },
    });
  });

  test('stays enabled after one burst of failures, however long it is idle afterwards', async () => {
    receiver.answer((response) => response.writeHead(500).end());
    service.startSender({ disableRule: rule, retryScheduleMs: [] });
    const { id } = await createEndpoint();
    await Promise.all(Array.from({ length: 8 }, () => publish()));
    await until(
      () => failuresOf(id),
      (count) => count === 8,
    );
    service.clock.advance(30 * 86_400_000);
    receiver.answer((response) => response.end());
    const event = await publish();
    expect(await settledDelivery(event.id)).toMatchObject({ status: 'succeeded' });
    expect(await endpoint(id)).toMatchObject({ status: 'enabled' });
    expect(await failuresOf(id)).toBe(0);
  });

  test('gets nothing while disabled, and every missed event once enabled and recovered', async () => {
    receiver.answer((response) => response.writeHead(500).end());
    service.startSender({ disableRule: { afterMs: 0, minFailures: 3 }, retryScheduleMs: Array(20).fill(5) });
    const { id } = await createEndpoint(['esim.*']);
    const before = await publish();
    await until(
      () => endpoint(id),
      ({ status }) => status === 'disabled',
    );
    expect((await deliveriesOf(before.id))[0]).toMatchObject({ status: 'canceled' });
    const during = await publish();
    expect(await deliveriesOf(during.id)).toEqual([]);
    receiver.answer((response) => response.end());
    receiver.received.length = 0;
    const enabled = await call(service, 'POST', `/v1/webhook_endpoints/${id}/enable`);
    expect(enabled.json).toMatchObject({ status: 'enabled', disabled_at: null });
    expect('disabled_reason' in enabled.json).toBe(false);
    await call(service, 'POST', `/v1/webhook_endpoints/${id}/recover`, { body: { since: 0 } });
    // Repeats like the server, because a recovery waits for older transactions, including other tests'.
    await until(
      () => runRecoveries(service.db, service.service),
      (queued) => queued === 2,
    );
    await receivedCount(2);
    await until(
      async () => (await deliveriesOf(during.id))[0]?.status,
      (status) => status === 'succeeded',
    );
    expect(receiver.received.map(({ headers }) => headers['webhook-id']).sort()).toEqual(
      [before.id, during.id].sort(),
    );
  });
});

test('replay delivers the same bytes again with a new signature', async () => {
  service.startSender();
  await createEndpoint();
  const event = await publish();
  await receivedCount(1);
  service.clock.advance(5_000);
  const replay = await call(service, 'POST', `/v1/events/${event.id}/replay`);
  expect([replay.status, replay.json.object, replay.json.deliveries.length]).toEqual([
    202,
    'event_replay',
    1,
  ]);
  await receivedCount(2);
  const [first, second] = receiver.received;
  expect(second?.body).toBe(first?.body);
  expect(second?.headers['service-signature']).not.toBe(first?.headers['service-signature']);
});

test('another account’s endpoints never see an event', async () => {
  const accounts = [await service.createAccount('One'), await service.createAccount('Two')];
  const targets = accounts.map(({ key }) => ({ url: service.url, key }));
  service.startSender();
  for (const [index, target] of targets.entries()) await createEndpoint(['*'], `/account-${index}`, target);
  const sent = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(1), fc.constantFrom('esim.a', 'bundle.b')), { maxLength: 10 }),
      async (batch) => {
        await Promise.all(
          batch.map(async ([index, type]) => {
            const event = await publish(type, {}, targets[index] as Target);
            sent.set(event.id, index);
          }),
        );
      },
    ),
    { numRuns: 10 },
  );
  await receivedCount(sent.size);
  expect(receiver.received).toHaveLength(sent.size);
  for (const { path, headers } of receiver.received) {
    expect(path).toBe(`/account-${sent.get(headers['webhook-id'] as string)}`);
  }
});
