import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { emit } from '../../src/notify/events/emit.ts';
import { newEvent } from '../../src/notify/events/new-event.ts';
import { assignPositions } from '../../src/notify/feed/sql/positions.ts';
import { cancelUndeliverable } from '../../src/notify/webhooks/endpoints/disable.ts';
import { createOrderFallback, placeInOrder } from '../../src/notify/webhooks/ordered/place-in-order.ts';
import { promote } from '../../src/notify/webhooks/ordered/promote.ts';
import { setPositions } from '../../src/notify/webhooks/ordered/sql.ts';
import { insertMissed, type LockedRecovery } from '../../src/notify/webhooks/recoveries/sql.ts';
import { claimDeliveries } from '../../src/notify/webhooks/sender/sql/claim-deliveries.ts';
import { type Settled, settleDeliveries } from '../../src/notify/webhooks/sender/sql/settle-deliveries.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { lowestUuid } from '../../src/platform/ids/uuid-range.ts';
import { call } from '../support/client.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const iccid = '8999901000000000018';
const leaseMs = 25_000;

let service: TestService;
let accountUuid: string;
let endpointUuid: string;
let apiKey: string;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  const { key, accountUuid: created } = await service.createAccount('Ordered');
  accountUuid = created;
  apiKey = key;
  endpointUuid = await createEndpoint(key, 'esim');
});

async function createEndpoint(key: string, ordering: string): Promise<string> {
  const body = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['*'], ordering };
  const { json } = await call({ url: service.url, key }, 'POST', '/v1/webhook_endpoints', { body });
  const [row] = await read<{ id: string }>('select id from webhook_endpoints where id = $1', [
    uuidOfId('we', json.id),
  ]);
  return row?.id as string; // as PostgreSQL writes it
}

async function read<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await service.db.pool.query<Row>(text, values)).rows;
}

function composed() {
  return newEvent(service.service, { accountUuid, type: 'esim.suspended', data: { iccid } });
}

async function store(): Promise<string> {
  const event = composed();
  await service.db.transaction((tx) => emit(tx, [event]));
  return event.uuid;
}

const key = () => ({ accountUuid, endpointUuid, iccid });

/** The events of the queue's deliveries to the endpoint. */
async function queued(): Promise<string[]> {
  const rows = await read<{ event_id: string }>(
    `select replace(event_id::text, '-', '') as event_id from delivery_queue where endpoint_id = $1`,
    [endpointUuid],
  );
  return rows.map(({ event_id }) => event_id);
}

function claim(holder: string, to = { accountUuid, endpointUuid }) {
  const wanted = [{ ...to, slots: 10, afterUuid: lowestUuid }];
  const request = { wanted, heldUuids: [], holder, leaseMs, renewBelowMs: 1_000, now: new Date() };
  return claimDeliveries(service.db, request);
}

async function claimOne(holder: string) {
  const { deliveries } = await claim(holder);
  expect(deliveries.map(({ order_key }) => order_key)).toEqual([iccid]);
  return deliveries[0] as (typeof deliveries)[number];
}

function success(delivery: Settled['delivery']): Settled {
  const result = { durationMs: 1, statusCode: 200, error: null, excerpt: null };
  return { delivery, outcome: 'succeeded', retryInMs: null, at: new Date(), ...result };
}

test('an event that is committed later comes later, whatever their ids', async () => {
  const late = composed();
  const tx = await service.db.pool.connect();
  await tx.query('begin');
  const query = async (statement: { text: string }, values: unknown[]) =>
    (await tx.query(statement.text, values)).rows;
  await emit({ query } as never, [late]);
  const early = await store();
  expect(late.uuid < early).toBe(true);
  await sequenceEvents(service);
  await placeInOrder(service.service);
  await tx.query('commit');
  tx.release();
  await sequenceEvents(service);
  await placeInOrder(service.service);
  expect(await queued()).toEqual([early]);
  await settleDeliveries(service.db, [success(await claimOne(randomUUID()))]);
  await promote(service.db, [key()]);
  expect(await queued()).toEqual([late.uuid]);
});

test('a delivery never overtakes one whose position is not stored yet', async () => {
  const [first, second] = [await store(), await store()];
  await sequenceEvents(service);
  // As a process does that dies after part of its work.
  await read('update blocked_deliveries set position = 2 where event_id = $1', [second]);
  expect(await promote(service.db, [key()])).toEqual([]);
  await createOrderFallback(service.service)();
  expect(await queued()).toEqual([first]);
});

test('a delivery does not wait for one whose event has no position yet', async () => {
  const first = await store();
  await sequenceEvents(service);
  await store();
  await placeInOrder(service.service);
  expect(await queued()).toEqual([first]);
});

test('positions are stored for all events, a batch at a time, also for those committed late', async () => {
  const events: string[] = [];
  const late = composed();
  for (let n = 0; n < 7; n++) {
    events.push(await store());
    if (n === 4) {
      await service.db.transaction((tx) => emit(tx, [late]));
      events.push(late.uuid);
    }
    await sequenceEvents(service);
  }
  let after: string | null = lowestUuid;
  for (let page = 0; after !== null; page++) {
    expect(page).toBeLessThan(10);
    ({ nextEvent: after } = await setPositions(service.db, after, 3));
  }
  const placed = await read<{ event_id: string; position: number }>(
    `select replace(event_id::text, '-', '') as event_id, position::integer from blocked_deliveries
     where endpoint_id = $1 order by position`,
    [endpointUuid],
  );
  expect(placed).toEqual(events.map((event_id, index) => ({ event_id, position: index + 1 })));
});

test.each([
  ['ends', 'the other moves nothing'],
  ['dies', 'the other moves the same one, not the next'],
])('of two workers at once, one moves the first delivery to the queue; if it %s, %s', async (how) => {
  const [first] = [await store(), await store(), await store()];
  await sequenceEvents(service);
  await setPositions(service.db, lowestUuid, 100);
  let other: Promise<object[]> = Promise.resolve([]);
  const worker = service.db.transaction(async (tx) => {
    expect(await promote(tx, [key()])).toHaveLength(1);
    other = promote(service.db, [key()]);
    await until(
      () =>
        read(
          `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%blocked_deliveries%'`,
        ),
      ({ length }) => length > 0,
    );
    if (how === 'dies') throw new Error('killed');
  });
  if (how === 'dies') await expect(worker).rejects.toThrow('killed');
  else await worker;
  expect(await other).toHaveLength(how === 'dies' ? 1 : 0);
  expect(await queued()).toEqual([first]);
  expect(await read('select from blocked_deliveries where endpoint_id = $1', [endpointUuid])).toHaveLength(2);
});

test('a worker that dies after it has ended a delivery leaves the next one to the others', async () => {
  const [, second] = [await store(), await store()];
  await sequenceEvents(service);
  await placeInOrder(service.service);
  await settleDeliveries(service.db, [success(await claimOne(randomUUID()))]);
  expect(await queued()).toEqual([]);
  await createOrderFallback(service.service)();
  expect(await queued()).toEqual([second]);
});

test('the fallback begins again after the last of thousands of eSIMs', async () => {
  const sendAll = createOrderFallback(service.service);
  // More than it looks at in one run; all of them wait for their position.
  await read(
    `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
     select $1, gen_random_uuid(), gen_random_uuid(), $2, 'event', (8999901000000000100 + n)::text, now()
     from generate_series(1, 2100) n`,
    [accountUuid, endpointUuid],
  );
  for (let run = 0; run < 2; run++) await sendAll();
  const event = await store();
  const data = { iccid: '8999901000000009999' };
  const ofLast = newEvent(service.service, { accountUuid, type: 'esim.suspended', data });
  await service.db.transaction((tx) => emit(tx, [ofLast]));
  await sequenceEvents(service);
  await setPositions(service.db, lowestUuid, 10_000);
  expect(await queued()).toEqual([]);
  for (let run = 0; run < 2; run++) await sendAll();
  expect((await queued()).sort()).toEqual([event, ofLast.uuid].sort());
  await read('delete from blocked_deliveries where endpoint_id = $1', [endpointUuid]);
});

test('a sender that has lost its lease ends nothing, and the next delivery keeps waiting', async () => {
  const [first] = [await store(), await store()];
  await sequenceEvents(service);
  await placeInOrder(service.service);
  const lost = await claimOne(randomUUID());
  await read(`update endpoint_leases set leased_until = now() - interval '1 second' where endpoint_id = $1`, [
    endpointUuid,
  ]);
  await claimOne(randomUUID());
  await settleDeliveries(service.db, [success(lost)]);
  expect(await promote(service.db, [key()])).toEqual([]);
  expect(await queued()).toEqual([first]);
});

test('a recovered event that the feed has forgotten comes first, and one without a position waits for it', async () => {
  const events: string[] = [];
  for (let n = 0; n < 3; n++) {
    events.push(await store());
    await sequenceEvents(service);
  }
  events.push(await store());
  await read('delete from event_feed where account_id = $1 and first_position = 1', [accountUuid]);
  await read('update event_feed_heads set expired_through = 2 where account_id = $1', [accountUuid]);
  await read('delete from blocked_deliveries where endpoint_id = $1', [endpointUuid]);
  const recovery = { account_id: accountUuid, endpoint_id: endpointUuid } as LockedRecovery;
  const missed = events.map((eventUuid) => ({ uuid: randomUUID(), eventUuid, accountUuid: null, iccid }));
  expect(await insertMissed(service.db, recovery, { events: missed, createdAt: new Date() })).toBe(4);
  const rows = await read<{ event_id: string; position: number | null }>(
    `select replace(event_id::text, '-', '') as event_id, position::float from blocked_deliveries
     where endpoint_id = $1 order by position nulls last`,
    [endpointUuid],
  );
  expect(rows.map(({ event_id }) => event_id)).toEqual(events);
  expect(rows.map(({ position }) => position && Math.max(0, position))).toEqual([0, 2, 3, null]);
});

test('a recovered event without a position waits for it, also if it is older than those in the feed', async () => {
  const late = composed();
  const early = await store();
  await sequenceEvents(service);
  await service.db.transaction((tx) => emit(tx, [late]));
  expect(late.uuid < early).toBe(true);
  await read('delete from blocked_deliveries where endpoint_id = $1', [endpointUuid]);
  const recovery = { account_id: accountUuid, endpoint_id: endpointUuid } as LockedRecovery;
  const missed = [late.uuid, early].map((eventUuid) => {
    return { uuid: randomUUID(), eventUuid, accountUuid: null, iccid };
  });
  expect(await insertMissed(service.db, recovery, { events: missed, createdAt: new Date() })).toBe(2);
  const rows = await read<{ event_id: string; position: number | null }>(
    `select replace(event_id::text, '-', '') as event_id, position::float from blocked_deliveries
     where endpoint_id = $1 order by position nulls last`,
    [endpointUuid],
  );
  expect(rows).toEqual([
    { event_id: early, position: 1 },
    { event_id: late.uuid, position: null },
  ]);
});

type Shown = { id: string; blocked_by: string | null };

/** A page of an event's deliveries. */
async function deliveriesOf(event: string, query = ''): Promise<{ data: Shown[]; next_cursor?: string }> {
  const path = `/v1/events/${idOfUuid('evt', event)}/deliveries${query}`;
  return (await call({ url: service.url, key: apiKey }, 'GET', path)).json;
}

test('while none of an eSIM is sent, its deliveries are shown to wait for the first, and that one for none', async () => {
  const events = [await store(), await store(), await store()];
  await sequenceEvents(service);
  await setPositions(service.db, lowestUuid, 1_000);
  events.push(await store());
  const shown: Shown[] = [];
  for (const event of events) shown.push(...(await deliveriesOf(event)).data);
  const first = shown[0]?.id;
  expect(shown.map(({ blocked_by }) => blocked_by)).toEqual([null, first, first, first]);
});

test('an event’s deliveries that wait at two endpoints are listed once each, page by page', async () => {
  await createEndpoint(apiKey, 'esim');
  const event = await store();
  const first = await deliveriesOf(event, '?limit=1');
  const second = await deliveriesOf(event, `?limit=1&starting_after=${first.next_cursor}`);
  expect(new Set([...first.data, ...second.data].map(({ id }) => id)).size).toBe(2);
  expect(second.next_cursor).toBeUndefined();
});

test('a disabled endpoint’s blocked delivery is not sent, and a chore cancels it', async () => {
  await store();
  await sequenceEvents(service);
  await read(`update webhook_endpoints set status = 'disabled' where id = $1`, [endpointUuid]);
  await placeInOrder(service.service);
  expect(await queued()).toEqual([]);
  await cancelUndeliverable(service.db, service.clock);
  expect(await read('select status from deliveries where endpoint_id = $1', [endpointUuid])).toEqual([
    { status: 'canceled' },
  ]);
  expect(await read('select from blocked_deliveries where endpoint_id = $1', [endpointUuid])).toEqual([]);
});

/** Pages that PostgreSQL has read of the tables, by its own count. */
async function countPages(tables: string[]): Promise<number> {
  // Every session reports its counts before it takes the next statement; the pool's other sessions are idle.
  await Promise.all(Array.from({ length: 16 }, () => read('select pg_stat_force_next_flush()')));
  const [row] = await read<{ pages: string }>(
    `select sum(heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read) as pages
     from pg_statio_user_tables where relname = any($1)`,
    [tables],
  );
  return Number(row?.pages);
}

/** An event of an ordered endpoint from its commit to the end of its delivery. */
async function deliverOne(): Promise<void> {
  const event = await store();
  await sequenceEvents(service);
  await placeInOrder(service.service);
  expect(await queued()).toEqual([event]);
  await settleDeliveries(service.db, [success(await claimOne(randomUUID()))]);
  await promote(service.db, [key()]);
  await read('delete from endpoint_leases where endpoint_id = $1', [endpointUuid]);
}

test('100,000 blocked deliveries of one endpoint cost the others nothing', async () => {
  const tables = ['blocked_deliveries', 'delivery_queue'];
  // It reads the tables too, whenever it comes.
  for (const table of tables) await read(`alter table ${table} set (autovacuum_enabled = off)`);
  // The plans are made while the tables are small.
  for (let n = 0; n < 8; n++) await deliverOne();
  const other = await service.createAccount('Blocked');
  const blockedEndpoint = await createEndpoint(other.key, 'esim');
  // Half of them wait for one delivery, the others for 5,000. In batches, within the statement timeout.
  for (let from = 0; from < 100_000; from += 10_000) {
    await read(
      `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, position, created_at)
       select $1, gen_random_uuid(), gen_random_uuid(), $2, 'event',
         (8999901000000000000 + case when n < 50000 then 0 else n % 5000 + 1 end)::text, n, now()
       from generate_series($3::integer, $3 + 9999) n`,
      [other.accountUuid, blockedEndpoint, from],
    );
  }
  await read(
    `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, order_key, due_at, created_at)
     select $1, gen_random_uuid(), gen_random_uuid(), $2, 'event', (8999901000000000000 + n)::text, now() + interval '1 hour', now()
     from generate_series(0, 5000) n`,
    [other.accountUuid, blockedEndpoint],
  );
  const before = await countPages(tables);
  await deliverOne();
  const pages = (await countPages(tables)) - before;
  expect(pages).toBeLessThan(300);
});

test('an open recovery holds up what its own endpoint gets in order, and no other endpoint of the account', async () => {
  const recovering = await createEndpoint(apiKey, 'esim');
  const path = `/v1/webhook_endpoints/${idOfUuid('we', recovering)}/recover`;
  const reply = await call({ url: service.url, key: apiKey }, 'POST', path, { body: { since: 0 } });
  expect(reply.status).toBe(202);
  await store();
  await sequenceEvents(service);
  await setPositions(service.db, lowestUuid, 1_000);
  const keys = [key(), { ...key(), endpointUuid: recovering }];
  const moved = await promote(service.db, keys);
  expect(moved.map((one) => one.endpointUuid)).toEqual([endpointUuid]);
});

test('a delivery is not sent before its event has a position', async () => {
  const event = await store();
  await promote(service.db, [key()]);
  expect(await queued()).toEqual([]);
  await sequenceEvents(service);
  await placeInOrder({ db: service.db, signals: service.service.signals });
  expect(await queued()).toEqual([event]);
});

test('a delivery whose event was deleted meanwhile holds up no other', async () => {
  const [deleted, next] = [await store(), await store()];
  await sequenceEvents(service);
  await setPositions(service.db, lowestUuid, 1_000);
  await read('delete from events where account_id = $1 and id = $2', [accountUuid, deleted]);
  for (let turn = 0; turn < 2; turn++) await promote(service.db, [key()]);
  expect((await queued()).sort()).toEqual([deleted, next].sort());
});

test('positions are stored without waiting for a delivery that is locked', async () => {
  const [locked, free] = [await store(), await store()];
  await sequenceEvents(service);
  const positioned = () =>
    read<{ event_id: string }>(
      `select replace(event_id::text, '-', '') as event_id from blocked_deliveries
       where endpoint_id = $1 and position is not null order by event_id`,
      [endpointUuid],
    );
  const setOrFail = () =>
    service.db.transaction(async (tx) => {
      await tx.query({ name: 'test_lock_timeout', text: `set local lock_timeout = '5s'` });
      await setPositions(tx, lowestUuid, 1_000);
    });
  const locking = await service.db.pool.connect();
  try {
    await locking.query('begin');
    await locking.query('select from blocked_deliveries where event_id = $1 for update', [locked]);
    await setOrFail();
    expect(await positioned()).toEqual([{ event_id: free }]);
  } finally {
    await locking.query('rollback');
    locking.release();
  }
  await setOrFail();
  expect(await positioned()).toHaveLength(2);
});

test('of two deliveries that wait with a position, the lower position goes first, whatever their ids', async () => {
  const late = composed();
  const early = await store();
  await sequenceEvents(service);
  await service.db.transaction((tx) => emit(tx, [late]));
  await sequenceEvents(service);
  expect(late.uuid < early).toBe(true);
  await setPositions(service.db, lowestUuid, 1_000);
  await promote(service.db, [key()]);
  expect(await queued()).toEqual([early]);
});

/** Runs `act` while the delivery moves to the queue, and lets it move once `act` waits for it. */
async function whileItMoves<T>(act: () => Promise<T>): Promise<T> {
  const moving = await service.db.pool.connect();
  try {
    await moving.query('begin');
    const query = async ({ text }: { text: string }, values: unknown[]) =>
      (await moving.query(text, values)).rows;
    expect(await promote({ query } as never, [key()])).toHaveLength(1);
    const acting = act();
    await untilLockIsAwaited(service);
    await moving.query('commit');
    return await acting;
  } finally {
    moving.release();
  }
}

test.each([
  ['retry', 'pending', 1],
  ['skip', 'canceled', 0],
])('%s finds a delivery that moves to the queue meanwhile', async (action, status, queuedCount) => {
  await store();
  await sequenceEvents(service);
  await setPositions(service.db, lowestUuid, 1_000);
  const [row] = await read<{ id: string }>('select id from blocked_deliveries where endpoint_id = $1', [
    endpointUuid,
  ]);
  const id = idOfUuid('dlv', row?.id as string);
  const target = { url: service.url, key: apiKey };
  const reply = await whileItMoves(() => call(target, 'POST', `/v1/deliveries/${id}/${action}`));
  expect(reply.json).toMatchObject({ id, status });
  expect(await queued()).toHaveLength(queuedCount);
});

test('processes that send the next deliveries of the same eSIMs lock them in the same order', async () => {
  const iccids = ['8999901000000000018', '8999901000000000026', '8999901000000000034'];
  const events = iccids.map((one) =>
    newEvent(service.service, { accountUuid, type: 'esim.suspended', data: { iccid: one } }),
  );
  await service.db.transaction((tx) => emit(tx, events));
  await sequenceEvents(service);
  await setPositions(service.db, lowestUuid, 1_000);
  const locking = await service.db.pool.connect();
  try {
    await locking.query('begin');
    const first = 'select from blocked_deliveries where endpoint_id = $1 and order_key = $2 for update';
    await locking.query(first, [endpointUuid, iccids[0]]);
    const keys = iccids.toReversed().map((one) => ({ ...key(), iccid: one }));
    const promoting = promote(service.db, keys);
    await untilLockIsAwaited(service);
    const free = await read('select from blocked_deliveries where endpoint_id = $1 for update skip locked', [
      endpointUuid,
    ]);
    expect(free).toHaveLength(2);
    await locking.query('commit');
    expect(await promoting).toHaveLength(3);
  } finally {
    locking.release();
  }
});

test('a pass tells whether an account with ordered deliveries got positions, so that the next one comes soon', async () => {
  const { key, accountUuid: plain } = await service.createAccount('Plain');
  await createEndpoint(key, 'none');
  await sequenceEvents(service);
  const passAfter = async (owner: string) => {
    const event = newEvent(service.service, { accountUuid: owner, type: 'esim.suspended', data: { iccid } });
    await service.db.transaction((tx) => emit(tx, [event]));
    const at = new Date(service.clock.nowMs());
    const { eventCount, hasWaiting } = await assignPositions(service.db, { afterId: 0, limit: 1_000, at });
    return { eventCount, hasWaiting };
  };
  expect(await passAfter(plain)).toEqual({ eventCount: 1, hasWaiting: false });
  expect(await passAfter(accountUuid)).toEqual({ eventCount: 1, hasWaiting: true });
});
