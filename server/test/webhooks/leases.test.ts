import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createEndpointClaims } from '../../src/notify/webhooks/sender/endpoint-claims.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
} from '../../src/notify/webhooks/sender/sql/claim-deliveries.ts';
import { deleteStaleLeases } from '../../src/notify/webhooks/sender/sql/leases.ts';
import { type Settled, settleDeliveries } from '../../src/notify/webhooks/sender/sql/settle-deliveries.ts';
import type { Queryable } from '../../src/platform/db/database.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { allAttempts, allDeliveries } from '../support/all-deliveries.ts';
import { call } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const lowest = '00000000-0000-0000-0000-000000000000';
const leaseMs = 25_000;

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

/** Creates an endpoint with `count` due deliveries, each 10 ms newer than the one before; returns the endpoint's uuid. */
async function storeBacklog(count: number): Promise<string> {
  const body = { url: `${receiver.url}/hook`, enabled_event_types: ['*'] };
  const { json } = await call(service, 'POST', '/v1/webhook_endpoints', { body });
  const [endpoint] = await read<{ id: string }>('select id from webhook_endpoints where id = $1', [
    uuidOfId('we', json.id),
  ]);
  const endpointUuid = endpoint?.id as string; // as PostgreSQL writes it
  await write(
    `with event as (
       insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7(now()), 'esim.provisioned', now(), '{}' from generate_series(1, $3) returning id)
     insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
     select $1, uuid_v7(now() + row_number() over () * interval '10 milliseconds'), event.id, $2, 'event', now() from event`,
    [service.accountUuid, endpointUuid, count],
  );
  return endpointUuid;
}

async function write(text: string, values: unknown[] = []): Promise<void> {
  await service.db.pool.query(text, values);
}

async function read<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await service.db.pool.query<Row>(text, values)).rows;
}

async function countDeliveries(condition: string): Promise<number> {
  return (await read(`select from ${allDeliveries} d where ${condition}`)).length;
}

type Take = { holder: string; slots?: number; afterUuid?: string; heldUuids?: string[]; db?: Queryable };

function claim(endpointUuid: string, take: Take) {
  const { holder, slots = 1, afterUuid = lowest, heldUuids = [], db = service.db } = take;
  const wanted = [{ accountUuid: service.accountUuid, endpointUuid, slots, afterUuid }];
  const renewBelowMs = leaseMs - 5_000;
  return claimDeliveries(db, { wanted, heldUuids, holder, leaseMs, renewBelowMs, now: new Date() });
}

async function claimOne(endpointUuid: string, holder: string): Promise<ClaimedDelivery> {
  const { deliveries } = await claim(endpointUuid, { holder });
  return deliveries[0] as ClaimedDelivery;
}

function result(delivery: ClaimedDelivery, outcome: Settled['outcome']): Settled {
  const retryInMs = outcome === 'pending' ? 60_000 : null;
  const statusCode = outcome === 'succeeded' ? 200 : 500;
  return {
    delivery,
    outcome,
    retryInMs,
    at: new Date(),
    durationMs: 5,
    statusCode,
    error: null,
    excerpt: null,
  };
}

/** Leases expire by the database's clock. */
function endLease(endpointUuid: string): Promise<void> {
  return write(
    `update endpoint_leases set leased_until = now() - interval '1 second' where endpoint_id = $1`,
    [endpointUuid],
  );
}

/** Takes the lease like another process after its expiry. */
function takeOver(endpointUuid: string): Promise<void> {
  return write(
    `update endpoint_leases set holder = gen_random_uuid(), fence = nextval('endpoint_lease_fences'), leased_until = now() + interval '1 hour'
     where endpoint_id = $1`,
    [endpointUuid],
  );
}

test('a sender that was frozen past its lease sends nothing more and writes nothing', async () => {
  const endpointUuid = await storeBacklog(300);
  const held: (() => void)[] = [];
  receiver.answer((response, _, count) => {
    if (count <= 130) return response.end();
    held.push(() => response.end());
  });
  let aheadMs = 0;
  const sender = service.startSender({
    concurrency: 1_024,
    timeoutMs: 100_000, // longer than a busy machine needs until the receiver holds all 64
    monotonicMs: () => performance.now() + aheadMs,
  });
  await until(
    () => countDeliveries(`status = 'succeeded'`),
    (count) => count === 130 && held.length === 64,
  );
  const health = `select failing_since, failure_count, last_success_at from webhook_endpoints`;
  const before = await read(health);
  await takeOver(endpointUuid);
  aheadMs = 200_000; // past the end of its lease
  for (const respond of held) respond();
  await sender.stop(60_000);
  expect(receiver.received).toHaveLength(130 + 64);
  expect(await countDeliveries(`status = 'succeeded'`)).toBe(130);
  expect(await countDeliveries(`status = 'pending' and attempt_count = 0`)).toBe(170);
  expect(await read(`select from ${allAttempts} a`)).toHaveLength(130);
  expect(await read(health)).toEqual(before);
});

test.each(['succeeded', 'pending', 'failed'] as const)(
  'a %s result of a former holder is dropped while the new holder still sends',
  async (outcome) => {
    const endpointUuid = await storeBacklog(1);
    const stale = await claimOne(endpointUuid, randomUUID());
    await endLease(endpointUuid);
    const current = await claimOne(endpointUuid, randomUUID());
    expect([current.id, current.fence > stale.fence]).toEqual([stale.id, true]);
    expect(await settleDeliveries(service.db, [result(stale, outcome)])).toEqual([]);
    expect(await countDeliveries(`status = 'pending' and attempt_count = 0`)).toBe(1);
    await settleDeliveries(service.db, [result(current, 'succeeded')]);
    expect(await countDeliveries(`status = 'succeeded' and attempt_count = 1`)).toBe(1);
    expect(await countDeliveries('true')).toBe(1);
  },
);

test('an attempt is settled only once, even by its own holder', async () => {
  const endpointUuid = await storeBacklog(1);
  const delivery = await claimOne(endpointUuid, randomUUID());
  for (let time = 0; time < 2; time++) await settleDeliveries(service.db, [result(delivery, 'pending')]);
  expect(await countDeliveries(`status = 'pending' and attempt_count = 1`)).toBe(1);
  expect(await read(`select number from ${allAttempts} a`)).toEqual([{ number: 1 }]);
});

test('a live lease excludes other processes; its holder renews it and keeps its fence, even after it expired', async () => {
  const endpointUuid = await storeBacklog(1);
  const [holder, other] = [randomUUID(), randomUUID()];
  const first = await claim(endpointUuid, { holder });
  expect(first.deliveries).toHaveLength(1);
  expect(await claim(endpointUuid, { holder: other })).toEqual({ leases: [], deliveries: [] });
  await endLease(endpointUuid);
  const again = await claim(endpointUuid, { holder });
  expect(again.leases).toMatchObject([{ fence: first.leases[0]?.fence }]);
  expect(again.leases[0]?.leftMs).toBeGreaterThan(leaseMs - 5_000);
  await endLease(endpointUuid);
  const taken = await claim(endpointUuid, { holder: other });
  expect(taken.leases[0]?.fence).toBeGreaterThan(first.leases[0]?.fence ?? 0);
  expect(await claim(endpointUuid, { holder })).toEqual({ leases: [], deliveries: [] });
});

test('if two processes claim an endpoint at the same moment, only one gets it', async () => {
  const endpointUuid = await storeBacklog(1);
  const connection = await service.db.pool.connect();
  const db: Queryable = {
    query: async ({ name, text }, values = []) => (await connection.query({ name, text, values })).rows,
  };
  try {
    await connection.query('begin');
    const first = await claim(endpointUuid, { holder: randomUUID(), db });
    const second = claim(endpointUuid, { holder: randomUUID() }); // sees no lease yet, and waits for the first one's
    await untilLockIsAwaited(service);
    await connection.query('commit');
    expect(first.deliveries).toHaveLength(1);
    expect(await second).toEqual({ leases: [], deliveries: [] });
  } finally {
    connection.release();
  }
});

test('a claim of an endpoint whose lease is fresh writes nothing', async () => {
  const endpointUuid = await storeBacklog(2);
  const holder = randomUUID();
  const version = async () =>
    (await read<{ xmin: string }>('select xmin::text from endpoint_leases'))[0]?.xmin;
  await claim(endpointUuid, { holder });
  const before = await version();
  await claim(endpointUuid, { holder });
  expect(await version()).toBe(before);
  await write(`update endpoint_leases set leased_until = now() + interval '19 seconds'`);
  const { leases } = await claim(endpointUuid, { holder });
  expect(leases[0]?.leftMs).toBe(leaseMs);
});

test('two senders send each delivery of an endpoint once, with one lease', async () => {
  const total = 300;
  const endpointUuid = await storeBacklog(total);
  for (let count = 0; count < 2; count++) service.startSender({ concurrency: 1_024 });
  await until(
    () => countDeliveries(`status = 'succeeded'`),
    (count) => count === total,
  );
  expect(receiver.received).toHaveLength(total);
  const fences = await read<{ fence: number }>(
    'select fence::int from endpoint_leases where endpoint_id = $1',
    [endpointUuid],
  );
  expect(fences).toHaveLength(1);
});

test('a stopping sender releases idle endpoints immediately, and the others after their last attempt', async () => {
  await storeBacklog(1);
  const sender = service.startSender();
  await until(
    () => countDeliveries(`status = 'succeeded'`),
    (count) => count === 1,
  );
  let respond = () => {};
  receiver.answer((response) => {
    respond = () => response.end();
  });
  const busy = await storeBacklog(1);
  await until(
    async () => receiver.received.length,
    (count) => count === 2,
  );
  const leased = () => read<{ endpoint_id: string }>('select endpoint_id from endpoint_leases');
  expect(await leased()).toHaveLength(2);
  const stopped = sender.stop(60_000);
  await until(leased, (rows) => rows.length === 1);
  expect(await leased()).toEqual([{ endpoint_id: busy }]);
  respond();
  await stopped;
  expect(await leased()).toEqual([]);
  expect(await countDeliveries(`status = 'succeeded'`)).toBe(2);
});

test('the lease of a deleted endpoint is removed an hour after its end, and no other lease', async () => {
  const [kept, deleted] = [await storeBacklog(1), await storeBacklog(1)];
  for (const endpointUuid of [kept, deleted]) await claimOne(endpointUuid, randomUUID());
  const at = `/v1/webhook_endpoints/${idOfUuid('we', deleted)}`;
  expect((await call(service, 'DELETE', at)).status).toBe(200);
  const leased = async () => {
    await deleteStaleLeases(service.db);
    const rows = await read<{ endpoint_id: string }>('select endpoint_id from endpoint_leases');
    return rows.map((row) => row.endpoint_id).sort();
  };
  const both = [kept, deleted].sort();
  expect(await leased()).toEqual(both);
  await write(`update endpoint_leases set leased_until = now() - interval '59 minutes'`);
  expect(await leased()).toEqual(both); // a frozen sender's fence is still checked against it
  await write(`update endpoint_leases set leased_until = now() - interval '61 minutes'`);
  expect(await leased()).toEqual([kept]);
});

test('a success in a batch resets the failure count, even if other deliveries in it fail', async () => {
  const endpointUuid = await storeBacklog(3);
  await write(`update webhook_endpoints set failing_since = now(), failure_count = 7`);
  const { deliveries } = await claim(endpointUuid, { holder: randomUUID(), slots: 3 });
  const [first, second, third] = deliveries as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
  await settleDeliveries(service.db, [
    result(first, 'failed'),
    result(second, 'succeeded'),
    result(third, 'pending'),
  ]);
  expect(await read('select failing_since, failure_count from webhook_endpoints')).toEqual([
    { failing_since: null, failure_count: 0 },
  ]);
});

test('while a snapshot is held open, claims do not read over deliveries sent since', async () => {
  const total = 2_000;
  const endpointUuid = await storeBacklog(total);
  const dump = await service.db.pool.connect();
  const connection = await service.db.pool.connect();
  const db: Queryable = {
    query: async ({ name, text }, values = []) => (await connection.query({ name, text, values })).rows,
  };
  const readCount = async () => {
    await connection.query('select pg_stat_force_next_flush()');
    const [row] = await read<{ scans: number; read: number }>(
      `select idx_scan::int as scans, idx_tup_read::int as read from pg_stat_user_indexes
       where indexrelname = 'delivery_queue_fresh'`,
    );
    return row as { scans: number; read: number };
  };
  try {
    await dump.query('begin isolation level repeatable read');
    await dump.query('select from delivery_queue limit 1');
    const holder = randomUUID();
    const claims = createEndpointClaims(() => performance.now());
    const before = await readCount();
    let settled = 0;
    let claimCount = 0;
    while (settled < total) {
      const position = claims.begin(endpointUuid);
      const { deliveries, leases } = await claim(endpointUuid, { holder, slots: 16, db, ...position });
      for (const delivery of deliveries) claims.hold(delivery);
      claims.end(endpointUuid, {
        lease: leases[0] ?? null,
        sentAtMs: performance.now(),
        isFull: deliveries.length === 16,
      });
      await settleDeliveries(
        db,
        deliveries.map((delivery) => result(delivery, 'succeeded')),
      );
      for (const delivery of deliveries) claims.drop(delivery);
      settled += deliveries.length;
      claimCount += 1;
    }
    const after = await until(readCount, ({ scans }) => scans - before.scans >= claimCount);
    // Starting from the beginning, each claim would read all settled deliveries: 125,000 in total.
    expect(after.read - before.read).toBeLessThan(30_000);
  } finally {
    await dump.query('rollback');
    dump.release();
    connection.release();
  }
});

test('a sender whose leases may soon end cuts off what it sends, records no attempt, and sends it with a new lease', async () => {
  await storeBacklog(1);
  let isFresh = true;
  let asked = 0;
  const cutOff = new Promise<void>((resolve) => {
    receiver.answer((response) => response.on('close', resolve));
  });
  const sender = service.startSender({
    isFresh() {
      asked += 1;
      return isFresh;
    },
  });
  await until(
    async () => receiver.received.length,
    (count) => count === 1,
  );
  receiver.answer((response) => response.end());
  isFresh = false;
  sender.interrupt();
  await cutOff;
  const unclaimed = await storeBacklog(1);
  const askedBefore = asked;
  await until(
    async () => {
      sender.wake();
      return asked;
    },
    (count) => count > askedBefore + 10,
  );
  expect(receiver.received).toHaveLength(1);
  expect(await read('select attempt_count from delivery_queue')).toEqual([
    { attempt_count: 0 },
    { attempt_count: 0 },
  ]);
  expect(await read('select from webhook_endpoints where failing_since is not null')).toEqual([]);
  expect(await read('select from endpoint_leases where endpoint_id = $1', [unclaimed])).toEqual([]);
  isFresh = true;
  sender.wake();
  await until(
    () => countDeliveries(`status = 'succeeded'`),
    (count) => count === 2,
  );
});

test('a sender that was frozen between claiming and sending does not send', async () => {
  const endpointUuid = await storeBacklog(1);
  let isFresh = true;
  let asked = 0;
  const db = {
    ...service.db,
    async query<Row extends object>(...[statement, values]: Parameters<Queryable['query']>): Promise<Row[]> {
      const rows = await service.db.query<Row>(statement, values);
      if (statement.name === 'delivery_claim' && rows.length > 1) isFresh = false;
      return rows;
    },
  };
  const sender = service.startSender({
    db,
    isFresh() {
      if (!isFresh) asked += 1;
      return isFresh;
    },
  });
  await until(
    async () => {
      sender.wake();
      return asked;
    },
    (count) => count > 5,
  );
  expect(receiver.received).toEqual([]);
  expect(await read('select from endpoint_leases where endpoint_id = $1', [endpointUuid])).toHaveLength(1);
});
