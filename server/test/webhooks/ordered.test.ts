import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createOrderFallback, placeInOrder } from '../../src/notify/webhooks/ordered/place-in-order.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import type { Sender } from '../../src/notify/webhooks/sender/start-sender.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { removeOld } from '../support/remove-old.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const [iccidA, iccidB] = ['8999901000000000018', '8999901000000000026'];

let service: TestService;
let receiver: Receiver;
let target: { url: string; key: string };
let workers: Pick<Sender, 'stop'>[] = [];

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  receiver = await startReceiver();
  target = { url: service.url, key: (await service.createAccount('Ordered')).key };
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  workers = [];
  await receiver.stop();
});

function startSender(overrides: Parameters<TestService['startSender']>[0] = {}): void {
  workers.push(service.startSender(overrides));
}

async function createEndpoint(ordering: 'none' | 'esim' = 'esim'): Promise<string> {
  const body = { url: `${receiver.url}/hook`, enabled_event_types: ['*'], ordering };
  const { status, json } = await call(target, 'POST', '/v1/webhook_endpoints', { body });
  expect([status, json.ordering]).toEqual([201, ordering]);
  return json.id;
}

/** Stores an event; its number is what `arrivals` shows. */
async function publish(number: number, about: object = { iccid: iccidA }): Promise<string> {
  const data = { number, ...about };
  const { status, json } = await call(target, 'POST', '/v1/events/test', {
    body: { type: 'esim.test', data },
  });
  expect(status).toBe(202);
  return json.id;
}

/** What the workers do after events were committed. */
async function place(): Promise<void> {
  await sequenceEvents(service);
  await placeInOrder(service.service);
}

async function deliveryOf(eventId: string, at = 0) {
  return (await call(target, 'GET', `/v1/events/${eventId}/deliveries`)).json.data[at];
}

function arrivals(): number[] {
  return receiver.received.map(({ body }) => JSON.parse(body).data.number);
}

function arrived(...numbers: number[]) {
  return until(
    async () => arrivals(),
    (seen) => numbers.every((number) => seen.includes(number)),
  );
}

/** Answers 500 while `fails` is true for the event's number. */
function failWhile(fails: (number: number) => boolean): void {
  receiver.answer((response, { body }) => {
    response.statusCode = fails(JSON.parse(body).data.number) ? 500 : 200;
    response.end();
  });
}

/**
 * Starts a sender to an endpoint that has proved to work, so it gets several deliveries at once. The returned function answers
 * event 1; the others are answered at once.
 */
async function holdFirst(): Promise<() => void> {
  const held: (() => void)[] = [];
  receiver.answer((response, { body }) => {
    if (JSON.parse(body).data.number === 1) held.push(() => response.end());
    else response.end();
  });
  startSender({ timeoutMs: 60_000 });
  await statusOf(await publish(-1, {}), 'succeeded');
  await statusOf(await publish(-2, {}), 'succeeded');
  receiver.received.length = 0;
  return () => {
    for (const answer of held) answer();
  };
}

function statusOf(eventId: string, status: string) {
  return until(
    () => deliveryOf(eventId),
    (delivery) => delivery.status === status,
  );
}

async function patch(endpointId: string, body: object): Promise<void> {
  expect((await call(target, 'PATCH', `/v1/webhook_endpoints/${endpointId}`, { body })).status).toBe(200);
}

test('the process that gives events their positions also places their deliveries', async () => {
  await createEndpoint();
  workers.push(service.startSequencer());
  startSender();
  for (const number of [1, 2, 3]) await publish(number);
  await arrived(1, 2, 3);
  expect(arrivals()).toEqual([1, 2, 3]);
});

test('an event waits until the earlier one of its eSIM has ended, and holds up no other', async () => {
  await createEndpoint();
  const answerFirst = await holdFirst();
  const [first, second, third] = [await publish(1), await publish(2), await publish(3)];
  await publish(4, { iccid: iccidB });
  await publish(5, {});
  await place();
  await arrived(1, 4, 5);
  const waiting = await deliveryOf(second);
  expect(waiting).toMatchObject({ status: 'pending', attempt_count: 0, next_attempt_at: null });
  expect(waiting.blocked_by).toBe((await deliveryOf(first)).id);
  expect((await deliveryOf(third)).blocked_by).toBe((await deliveryOf(first)).id);
  expect((await deliveryOf(first)).blocked_by).toBeNull();
  answerFirst();
  await statusOf(third, 'succeeded');
  expect(arrivals().filter((number) => number <= 3)).toEqual([1, 2, 3]);
  expect(await deliveryOf(third)).toMatchObject({ blocked_by: null, attempt_count: 1 });
});

test('an event whose earlier one has failed for good is sent', async () => {
  await createEndpoint();
  failWhile((number) => number === 1);
  const [first, second] = [await publish(1), await publish(2)];
  await place();
  startSender({ retryScheduleMs: [10] });
  await statusOf(second, 'succeeded');
  expect(arrivals()).toEqual([1, 1, 2]);
  expect((await deliveryOf(first)).status).toBe('failed');
});

test('events without an ICCID, or with something else in its place, are sent at once', async () => {
  await createEndpoint();
  startSender();
  const odd = [null, 1, { deep: iccidA }, 'x'.repeat(10_000), '123', '8'.repeat(21), `${iccidA}\n`];
  for (const [number, iccid] of odd.entries()) await publish(number, { iccid });
  await arrived(...odd.keys());
});

test('an event without a position waits for it, and shows no other delivery', async () => {
  await createEndpoint();
  const event = await publish(1);
  await placeInOrder(service.service);
  expect(await deliveryOf(event)).toMatchObject({
    status: 'pending',
    next_attempt_at: null,
    blocked_by: null,
  });
  expect(await service.service.metrics.registry.metrics()).toMatch(
    /^\w*queue\w*oldest\w*\{queue="deliveries"\} (?!0$)/m,
  );
  await place();
  expect((await deliveryOf(event)).next_attempt_at).not.toBeNull();
});

test('lists and filters show a blocked delivery once, and its event is kept', async () => {
  const endpoint = await createEndpoint();
  const [first, second] = [await publish(1), await publish(2)];
  await place();
  const { id } = await deliveryOf(second);
  const path = `/v1/webhook_endpoints/${endpoint}/deliveries`;
  for (const query of ['', '?status=pending']) {
    const { json } = await call(target, 'GET', `${path}${query}`);
    expect(json.data.map(({ event_id }: { event_id: string }) => event_id)).toEqual([second, first]);
  }
  expect((await call(target, 'GET', `${path}?status=succeeded`)).json.data).toEqual([]);
  expect((await call(target, 'GET', `${path}?limit=1`)).json.data[0].id).toBe(id);
  expect((await call(target, 'GET', `/v1/deliveries/${id}`)).json.id).toBe(id);
  const pending = await call(target, 'GET', '/v1/events?delivery=pending');
  expect(pending.json.data.map((event: { id: string }) => event.id)).toEqual([second, first]);
  const inAYear = { nowMs: () => service.clock.nowMs() + 365 * 86_400_000 };
  await removeOld({ db: service.db, clock: inAYear }, { retentionMs: 86_400_000 });
  for (const event of [first, second]) {
    expect((await call(target, 'GET', `/v1/events/${event}`)).status).toBe(200);
  }
});

test('a skipped delivery is canceled, its attempt in flight counts for nothing, and the next one is sent', async () => {
  await createEndpoint();
  const answerFirst = await holdFirst();
  const [first, second, third] = [await publish(1), await publish(2), await publish(3)];
  await place();
  await arrived(1);
  const { id } = await deliveryOf(first);
  const { id: blocked } = await deliveryOf(second);
  const headers = { 'idempotency-key': `skip-${id}` };
  const skipped = await call(target, 'POST', `/v1/deliveries/${id}/skip`, { headers });
  expect([skipped.status, skipped.json.status, skipped.json.next_attempt_at]).toEqual([
    200,
    'canceled',
    null,
  ]);
  await statusOf(third, 'succeeded');
  expect(arrivals()).toEqual([1, 2, 3]);
  answerFirst();
  expect((await call(target, 'POST', `/v1/deliveries/${id}/skip`, { headers })).json).toEqual(skipped.json);
  for (const ended of [id, blocked]) {
    const again = await call(target, 'POST', `/v1/deliveries/${ended}/skip`);
    expect([again.status, again.json.error.code]).toEqual([409, 'state_conflict']);
  }
  const unknown = await call(target, 'POST', '/v1/deliveries/dlv_01ks6x3h4rf9n8c2b7d5e0qzjm/skip');
  expect(unknown.status).toBe(404);
  // Stopped, the sender has stored every result.
  await Promise.all(workers.map((worker) => worker.stop(10_000)));
  expect(await deliveryOf(first)).toMatchObject({ status: 'canceled', attempts: [] });
});

test('a blocked delivery can be skipped, before and after it has a position', async () => {
  await createEndpoint();
  const [first, second, third] = [await publish(1), await publish(2), await publish(3)];
  const skip = async (event: string) =>
    (await call(target, 'POST', `/v1/deliveries/${(await deliveryOf(event)).id}/skip`)).json.status;
  expect(await skip(first)).toBe('canceled');
  await place();
  expect((await deliveryOf(third)).blocked_by).toBe((await deliveryOf(second)).id);
  expect(await skip(third)).toBe('canceled');
  expect(await skip(second)).toBe('canceled');
});

test('a retry sends a blocked delivery at once, and a replay its event: neither waits nor blocks', async () => {
  await createEndpoint();
  failWhile((number) => number === 1 || number === 2);
  const [, second, third, fourth] = [await publish(1), await publish(2), await publish(3), await publish(4)];
  await place();
  startSender({ retryScheduleMs: [3_600_000] });
  await arrived(1);
  const retried = await call(target, 'POST', `/v1/deliveries/${(await deliveryOf(second)).id}/retry`);
  expect([retried.status, retried.json.blocked_by]).toEqual([202, null]);
  await arrived(2);
  // The endpoint pauses after the failures; a retry does not.
  await call(target, 'POST', `/v1/events/${fourth}/replay`);
  await arrived(4);
  expect((await deliveryOf(fourth)).origin).toBe('replay');
  expect(arrivals()).not.toContain(3);
  const waiting = await deliveryOf(third);
  await call(target, 'POST', `/v1/deliveries/${waiting.blocked_by}/skip`);
  await arrived(3);
  expect((await deliveryOf(second)).status).toBe('pending');
});

test('a recovery sends what was missed in order, and newer events wait for it', async () => {
  const endpoint = await createEndpoint();
  await patch(endpoint, { status: 'disabled' });
  const missed = [await publish(1), await publish(2), await publish(3, { iccid: iccidB }), await publish(4)];
  await patch(endpoint, { status: 'enabled' });
  const since = Math.floor(service.clock.nowMs() / 1_000) - 60;
  const recover = () =>
    call(target, 'POST', `/v1/webhook_endpoints/${endpoint}/recover`, { body: { since } });
  const { json: recovery } = await recover();
  const live = await publish(5);
  startSender();
  await place();
  expect(await deliveryOf(live)).toMatchObject({ next_attempt_at: null, blocked_by: null });
  await until(
    async () => {
      await runRecoveries(service.db, { ...service.service, batchSize: 2 });
      return (await call(target, 'GET', `/v1/recoveries/${recovery.id}`)).json;
    },
    ({ status }) => status === 'succeeded',
  );
  await statusOf(live, 'succeeded');
  expect(arrivals().filter((number) => number !== 3)).toEqual([1, 2, 4, 5]);
  await statusOf(missed[2] as string, 'succeeded');
  expect(await deliveryOf(missed[0] as string)).toMatchObject({ origin: 'recovery', attempt_count: 1 });
});

test('a recovery queues no event twice that waits for its turn', async () => {
  const endpoint = await createEndpoint();
  const events = [await publish(1), await publish(2)];
  await place();
  await publish(3);
  const since = Math.floor(service.clock.nowMs() / 1_000) - 60;
  const { json } = await call(target, 'POST', `/v1/webhook_endpoints/${endpoint}/recover`, {
    body: { since },
  });
  const finished = await until(
    async () => {
      await runRecoveries(service.db, service.service);
      return (await call(target, 'GET', `/v1/recoveries/${json.id}`)).json;
    },
    ({ status }) => status === 'succeeded',
  );
  expect(finished).toMatchObject({ queued_count: 0, checked_count: 3 });
  for (const event of events) expect(await deliveryOf(event, 1)).toBeUndefined();
});

test.each(['disabled', 'deleted'])('a %s endpoint’s blocked deliveries are canceled', async (how) => {
  const endpoint = await createEndpoint();
  const [first, second] = [await publish(1), await publish(2)];
  await place();
  const third = await publish(3);
  if (how === 'disabled') await patch(endpoint, { status: 'disabled' });
  else await call(target, 'DELETE', `/v1/webhook_endpoints/${endpoint}`);
  for (const event of [first, second, third]) expect((await deliveryOf(event)).status).toBe('canceled');
});

test('a change of ordering applies to new deliveries', async () => {
  const endpoint = await createEndpoint();
  const answerFirst = await holdFirst();
  await publish(1);
  const second = await publish(2);
  await patch(endpoint, { ordering: 'none' });
  expect((await call(target, 'GET', `/v1/webhook_endpoints/${endpoint}`)).json.ordering).toBe('none');
  await publish(3);
  await place();
  await arrived(1, 3);
  expect(arrivals()).not.toContain(2);
  await patch(endpoint, { ordering: 'esim' });
  const fourth = await publish(4);
  await place();
  expect((await deliveryOf(fourth)).blocked_by).not.toBeNull();
  answerFirst();
  await statusOf(fourth, 'succeeded');
  await statusOf(second, 'succeeded');
  expect(arrivals().filter((number) => number % 2 === 0)).toEqual([2, 4]);
});

test('with failing attempts, two senders and concurrent workers, each eSIM’s events start in the order of the feed', async () => {
  const iccids = [iccidA, iccidB, '8999901000000000034'];
  const endpoint = await createEndpoint();
  receiver.answer((response, _, count) => {
    response.statusCode = count % 5 === 0 ? 500 : 200;
    response.end();
  });
  // Two processes: each has leases of its own, and loses them while it still sends.
  startSender({ retryScheduleMs: [5, 5] });
  startSender({ retryScheduleMs: [5, 5] });
  const fallbacks = [createOrderFallback(service.service), createOrderFallback(service.service)];
  const writers = iccids.map(async (iccid, writer) => {
    for (let n = 0; n < 12; n++) await publish(writer * 100 + n, { iccid });
  });
  const accountUuid = (
    await service.db.pool.query('select account_id from webhook_endpoints where id = $1', [
      uuidOfId('we', endpoint),
    ])
  ).rows[0].account_id;
  let isWriting = true;
  const written = Promise.all(writers).then(() => {
    isWriting = false;
  });
  await until(
    async () => {
      await sequenceEvents(service);
      await Promise.all([...fallbacks.map((run) => run()), placeInOrder(service.service)]);
      await service.db.pool.query(
        "update endpoint_leases set leased_until = now() - interval '1 second' where random() < 0.02",
      );
      const { rows } = await service.db.pool.query(
        'select (select count(*) from delivery_queue where account_id = $1) + (select count(*) from blocked_deliveries where account_id = $1) as open',
        [accountUuid],
      );
      return isWriting ? -1 : Number(rows[0].open);
    },
    (open) => open === 0,
  );
  await written;
  const { rows: feed } = await service.db.pool.query(
    `select body::json -> 'data' ->> 'number' as number from event_feed
     cross join unnest(event_ids) with ordinality as listed (id, n)
     join events on events.account_id = event_feed.account_id and events.id = listed.id
     where event_feed.account_id = $1 order by first_position + n`,
    [accountUuid],
  );
  const started = [...new Set(arrivals())];
  for (const writer of iccids.keys()) {
    const isOfWriter = (number: number) => Math.floor(number / 100) === writer;
    expect(started.filter(isOfWriter)).toEqual(feed.map((row) => Number(row.number)).filter(isOfWriter));
  }
});
