import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createNames } from '../../src/notify/webhooks/names/names.ts';
import {
  type ClaimedDelivery,
  claimDeliveries,
  claimNamed,
} from '../../src/notify/webhooks/sender/sql/claim-deliveries.ts';
import {
  endAbandonedLeases,
  endLeases,
  findEndpoints,
  findEndpointsDue,
} from '../../src/notify/webhooks/sender/sql/leases.ts';
import { type Settled, settleDeliveries } from '../../src/notify/webhooks/sender/sql/settle-deliveries.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const lowest = '00000000-0000-0000-0000-000000000000';
const leaseMs = 25_000;
const type = 'esim.suspended';

let service: TestService;
let receiver: Receiver;
let account: { url: string; key: string; accountUuid: string };
beforeAll(async () => {
  service = await startService();
  receiver = await startReceiver();
});
afterAll(async () => {
  await receiver.stop();
  await service.stop();
});
beforeEach(async () => {
  account = { url: service.url, ...(await service.createAccount('Leases')) };
  receiver.received.length = 0;
});

async function read<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await service.db.pool.query<Row>(text, values)).rows;
}

/** Returns its uuid, as PostgreSQL writes it. */
async function createEndpoint(): Promise<string> {
  const body = { url: `${receiver.url}/hook`, enabled_event_types: ['*'] };
  const { json } = await call(account, 'POST', '/v1/webhook_endpoints', { body });
  const [row] = await read<{ id: string }>('select $1::uuid as id', [uuidOfId('we', json.id)]);
  return row?.id as string;
}

async function sendEvent(): Promise<void> {
  const { status } = await call(account, 'POST', '/v1/events/test', { body: { type, data: {} } });
  expect(status).toBe(202);
}

function claim(endpointUuids: string[], { holder = randomUUID(), slots = 1 } = {}) {
  const { accountUuid } = account;
  const wanted = endpointUuids.map((endpointUuid) => {
    return { accountUuid, endpointUuid, slots, afterUuid: lowest };
  });
  const times = { leaseMs, renewBelowMs: leaseMs - 5_000, now: new Date() };
  return claimDeliveries(service.db, { wanted, heldUuids: [], holder, ...times });
}

function failure(delivery: ClaimedDelivery, at = new Date(), error = 'refused'): Settled {
  const result = { durationMs: 5, statusCode: null, error, excerpt: null };
  return { delivery, outcome: 'pending', retryInMs: 60_000, at, ...result };
}

/** Runs `act` while the first row is locked. Returns whether each of the others is free once `act` waits for the first. */
async function freeWhileFirstIsLocked(
  table: string,
  [first, ...others]: [table: string, ...others: string[]],
  act: () => Promise<unknown>,
): Promise<boolean[]> {
  const locking = await service.db.pool.connect();
  try {
    await locking.query('begin');
    await locking.query(`select from ${table} where ${first} for no key update`);
    const acting = act();
    await untilLockIsAwaited(service);
    const isFree: boolean[] = [];
    for (const other of others) {
      const found = await read(`select from ${table} where ${other} for no key update skip locked`);
      isFree.push(found.length === 1);
    }
    await locking.query('commit');
    await acting;
    return isFree;
  } finally {
    locking.release();
  }
}

test('the retry that is due longest is claimed first, and new deliveries after all retries', async () => {
  const endpointUuid = await createEndpoint();
  for (let count = 0; count < 3; count++) await sendEvent();
  const ids = await read<{ id: string }>('select id from delivery_queue where endpoint_id = $1 order by id', [
    endpointUuid,
  ]);
  const [fresh, shorter, longer] = ids.map(({ id }) => id);
  for (const [id, minutes] of [
    [shorter, 1],
    [longer, 2],
  ])
    await read(
      `update delivery_queue set attempt_count = 1, due_at = now() - $2 * interval '1 minute' where id = $1`,
      [id, minutes],
    );
  const holder = randomUUID();
  const claimed = async (slots: number) =>
    (await claim([endpointUuid], { holder, slots })).deliveries.map(({ id }) => id);
  expect(await claimed(1)).toEqual([longer]);
  expect(await claimed(3)).toEqual([longer, shorter, fresh]);
});

test('a process ends only its own leases', async () => {
  const endpointUuid = await createEndpoint();
  const [holder, other] = [randomUUID(), randomUUID()];
  await claim([endpointUuid], { holder });
  const leases = () => read('select from endpoint_leases where endpoint_id = $1', [endpointUuid]);
  await endLeases(service.db, other, [endpointUuid]);
  expect(await leases()).toHaveLength(1);
  await endLeases(service.db, holder, [endpointUuid]);
  expect(await leases()).toHaveLength(0);
});

test('an endpoint with due deliveries is found by its holder only, and by all once the lease has expired', async () => {
  const endpointUuid = await createEndpoint();
  await sendEvent();
  const [holder, other] = [randomUUID(), randomUUID()];
  await claim([endpointUuid], { holder });
  const isFound = async (by: string) => {
    const accountUuids = [account.accountUuid];
    const woken = await findEndpoints(service.db, { accountUuids, holder: by, sinceUuid: lowest });
    const scanned = await findEndpointsDue(service.db, by);
    return [woken, scanned].map((all) => all.some((one) => one.endpointUuid === endpointUuid));
  };
  expect(await isFound(holder)).toEqual([true, true]);
  expect(await isFound(other)).toEqual([false, false]);
  await read(`update endpoint_leases set leased_until = now() - interval '1 second' where endpoint_id = $1`, [
    endpointUuid,
  ]);
  expect(await isFound(other)).toEqual([true, true]);
});

test('an endpoint is found with its standing, also if it has a retry only; one that fails is found by the scan alone', async () => {
  const endpointUuid = await createEndpoint();
  await sendEvent();
  const standings = async () => {
    const [accountUuids, holder] = [[account.accountUuid], randomUUID()];
    const woken = await findEndpoints(service.db, { accountUuids, holder, sinceUuid: lowest });
    const scanned = await findEndpointsDue(service.db, holder);
    return [woken, scanned].map((all) => all.find((one) => one.endpointUuid === endpointUuid)?.standing);
  };
  expect(await standings()).toEqual(['untried', 'untried']);
  await read('update webhook_endpoints set last_success_at = now() where id = $1', [endpointUuid]);
  await read('update delivery_queue set attempt_count = 1 where endpoint_id = $1', [endpointUuid]);
  expect(await standings()).toEqual(['proven', 'proven']);
  await read('update webhook_endpoints set failing_since = now() where id = $1', [endpointUuid]);
  expect(await standings()).toEqual([undefined, 'failing']);
});

test('processes that claim the same endpoints lock their leases in the same order', async () => {
  const endpoints = [await createEndpoint(), await createEndpoint(), await createEndpoint()].sort();
  await claim(endpoints);
  await read(`update endpoint_leases set leased_until = now() - interval '1 second'`);
  const rows = endpoints.map((id) => `endpoint_id = '${id}'`) as [string, ...string[]];
  expect(await freeWhileFirstIsLocked('endpoint_leases', rows, () => claim(endpoints.toReversed()))).toEqual([
    true,
    true,
  ]);
});

test('senders whose batches share endpoints lock them in the same order', async () => {
  const endpoints = [await createEndpoint(), await createEndpoint(), await createEndpoint()].sort();
  await sendEvent();
  const { deliveries } = await claim(endpoints);
  expect(deliveries).toHaveLength(3);
  const results = deliveries
    .toSorted((a, b) => (a.endpoint_id < b.endpoint_id ? 1 : -1))
    .map((delivery) => failure(delivery));
  const rows = endpoints.map((id) => `id = '${id}'`) as [string, ...string[]];
  const settle = () => settleDeliveries(service.db, results);
  expect(await freeWhileFirstIsLocked('webhook_endpoints', rows, settle)).toEqual([true, true]);
});

test('an endpoint fails since the first failure of a batch, with the error of the last', async () => {
  const endpointUuid = await createEndpoint();
  for (let count = 0; count < 3; count++) await sendEvent();
  const { deliveries } = await claim([endpointUuid], { slots: 3 });
  const [one, two, three] = deliveries as [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
  const nowMs = service.clock.nowMs();
  await settleDeliveries(service.db, [
    failure(two, new Date(nowMs + 1_000), 'second'),
    failure(three, new Date(nowMs + 2_000), 'third'),
    failure(one, new Date(nowMs), 'first'),
  ]);
  const health = await read(
    'select failing_since, failure_count, last_error from webhook_endpoints where id = $1',
    [endpointUuid],
  );
  expect(health).toEqual([{ failing_since: new Date(nowMs), failure_count: 3, last_error: 'third' }]);
});

test('an attempt that could end after its lease is not started', async () => {
  const endpointUuid = await createEndpoint();
  let aheadMs = 0;
  let lookups = 0;
  const names = createNames();
  const sender = service.startSender({
    timeoutMs: 60_000,
    leaseMarginMs: 10_000,
    monotonicMs: () => performance.now() + aheadMs,
    names: {
      async resolve(accountUuid, hostname) {
        if (accountUuid.replaceAll('-', '') === account.accountUuid.replaceAll('-', '')) lookups += 1;
        // The first look-up takes so long that the lease has less left than an attempt may take.
        if (lookups === 1) aheadMs = 20_000;
        return names.resolve(accountUuid, hostname);
      },
    },
  });
  await sendEvent();
  await until(
    () => read(`select from deliveries where endpoint_id = $1 and status = 'succeeded'`, [endpointUuid]),
    ({ length }) => length === 1,
  );
  expect(lookups).toBe(2);
  await sender.stop(0);
});

test('a lease is renewed when half of what it is longer than an attempt has passed', async () => {
  const endpointUuid = await createEndpoint();
  const leasedUntil = 'select leased_until from endpoint_leases where endpoint_id = $1';
  const shorten = `update endpoint_leases set leased_until = now() + interval '69 seconds' where endpoint_id = $1`;
  let shortened: Promise<object[]> | undefined;
  // A retry is claimed: an event of this process would be sent from memory, under the lease that is there.
  receiver.answer((response, _, count) => {
    shortened ??= read(`${shorten} returning leased_until`, [endpointUuid]);
    const answer = () => void response.writeHead(count === 1 ? 500 : 200).end();
    shortened.then(answer, answer);
  });
  const sender = service.startSender({ timeoutMs: 60_000, leaseMarginMs: 20_000 });
  await sendEvent();
  await until(
    () => read(`select from deliveries where endpoint_id = $1 and status = 'succeeded'`, [endpointUuid]),
    ({ length }) => length === 1,
  );
  const before = await shortened;
  expect(before).toHaveLength(1);
  expect(await read(leasedUntil, [endpointUuid])).not.toEqual(before);
  await sender.stop(0);
  receiver.answer((response) => response.end('ok'));
});

test('a delivery whose result may be stored is not sent again at once', async () => {
  const endpointUuid = await createEndpoint();
  let failures = 0;
  const db: Database = {
    ...service.db,
    query: async (statement, values) => {
      if (statement.name === 'delivery_settle' && failures++ === 0)
        throw new Error('the connection was lost');
      return service.db.query(statement, values);
    },
  };
  const sender = service.startSender({ db });
  await sendEvent();
  await until(
    async () => failures,
    (count) => count === 1,
  );
  await sendEvent();
  await until(
    () => read(`select from deliveries where endpoint_id = $1 and status = 'succeeded'`, [endpointUuid]),
    ({ length }) => length === 1,
  );
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect([ids.length, new Set(ids).size]).toEqual([2, 2]);
  await sender.stop(0);
});

test('a claim takes no delivery before it is due, neither a retry nor a new one', async () => {
  const endpointUuid = await createEndpoint();
  for (let n = 0; n < 3; n++) await sendEvent();
  const [due, ...later] = await read<{ id: string }>(
    'select id from delivery_queue where endpoint_id = $1 order by id',
    [endpointUuid],
  );
  for (const [attempts, { id }] of later.entries())
    await read(
      `update delivery_queue set due_at = now() + interval '1 hour', attempt_count = $2 where account_id = $3 and id = $1`,
      [id, attempts, account.accountUuid],
    );
  const { deliveries } = await claim([endpointUuid], { slots: 10 });
  expect(deliveries.map(({ id }) => id)).toEqual([due?.id]);
});

test('deliveries that are sent now go to their own endpoint, also if several are claimed together', async () => {
  const endpointUuids = [await createEndpoint(), await createEndpoint()];
  await sendEvent();
  const { accountUuid } = account;
  const queued = await read<{ id: string; endpoint_id: string }>(
    'select id, endpoint_id from delivery_queue where account_id = $1 order by id',
    [accountUuid],
  );
  const wanted = endpointUuids.map((endpointUuid) => {
    return { accountUuid, endpointUuid, slots: 2, afterUuid: lowest };
  });
  const times = { leaseMs, renewBelowMs: leaseMs - 5_000, now: new Date() };
  const { deliveries } = await claimNamed(
    service.db,
    { wanted, heldUuids: [], holder: randomUUID(), ...times },
    queued.map(({ id }) => id),
  );
  const claimed = deliveries.map(({ id, endpoint_id }) => ({ id, endpoint_id }));
  expect(claimed.toSorted((a, b) => (a.id < b.id ? -1 : 1))).toEqual(queued);
});

test('a claim says when the first of an endpoint’s secrets ends', async () => {
  const endpointUuid = await createEndpoint();
  const ends = [3_600_000, 7_200_000].map((ms) => new Date(Date.now() + ms));
  for (const expiresAt of ends) {
    await read(
      `insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at, expires_at)
       values ($1, $2, gen_random_uuid(), 'sealed', now(), $3)`,
      [account.accountUuid, endpointUuid, expiresAt],
    );
  }
  const { leases } = await claim([endpointUuid]);
  expect(leases[0]?.target.secretsUntil).toEqual(ends[0]);
});

test('a signal finds an endpoint with a new delivery that is recent, or a retry, and the scan any; neither before it is due', async () => {
  const endpointUuid = await createEndpoint();
  await sendEvent();
  const [queued] = await read<{ id: string }>('select id from delivery_queue where endpoint_id = $1', [
    endpointUuid,
  ]);
  const isFound = async (attempts: number, due: string, sinceUuid: string) => {
    await read(`update delivery_queue set attempt_count = $2, due_at = now() + $3::interval where id = $1`, [
      ...[queued?.id, attempts, due],
    ]);
    const [accountUuids, holder] = [[account.accountUuid], randomUUID()];
    const woken = await findEndpoints(service.db, { accountUuids, holder, sinceUuid });
    const scanned = await findEndpointsDue(service.db, holder);
    return [woken, scanned].map((all) => all.some((one) => one.endpointUuid === endpointUuid));
  };
  const [own, later] = [queued?.id as string, 'ffffffff-ffff-7fff-bfff-ffffffffffff'];
  expect(await isFound(0, '0', own)).toEqual([true, true]);
  expect(await isFound(0, '0', later)).toEqual([false, true]);
  expect(await isFound(0, '1 hour', own)).toEqual([false, false]);
  expect(await isFound(1, '0', later)).toEqual([true, true]);
  expect(await isFound(1, '1 hour', own)).toEqual([false, false]);
});

test('abandoned leases are those that have not expired', async () => {
  for (let count = 0; count < 3; count++) await claim([await createEndpoint()]);
  const { accountUuid } = account;
  await read(
    `update endpoint_leases set leased_until = now() - interval '1 second'
     where endpoint_id = (select max(endpoint_id::text)::uuid from endpoint_leases where account_id = $1)`,
    [accountUuid],
  );
  const [live] = await read<{ count: number }>(
    'select count(*)::integer from endpoint_leases where leased_until > now()',
  );
  expect(await endAbandonedLeases(service.db)).toBe(live?.count);
  expect(await read('select from endpoint_leases where account_id = $1', [accountUuid])).toHaveLength(1);
});

function success(delivery: ClaimedDelivery, at: Date): Settled {
  const result = { durationMs: 5, statusCode: 200, error: null, excerpt: null };
  return { delivery, outcome: 'succeeded', retryInMs: null, at, ...result };
}

test('an endpoint’s last success is its latest, and it fails since its first failure, whatever is stored later', async () => {
  const endpointUuid = await createEndpoint();
  for (let count = 0; count < 5; count++) await sendEvent();
  const { deliveries } = await claim([endpointUuid], { slots: 5 });
  const at = (seconds: number) => new Date(Math.floor(service.clock.nowMs() / 1_000 + seconds) * 1_000);
  type Five = [ClaimedDelivery, ClaimedDelivery, ClaimedDelivery, ClaimedDelivery, ClaimedDelivery];
  const [first, second, third, fourth, fifth] = deliveries as Five;
  const healthOf = async (...results: Settled[]) => {
    await settleDeliveries(service.db, results);
    const [row] = await read<{ last_success_at: Date | null; failing_since: Date | null }>(
      'select last_success_at, failing_since from webhook_endpoints where id = $1',
      [endpointUuid],
    );
    return [row?.last_success_at, row?.failing_since];
  };
  const [early, late, later] = [at(600), at(1_200), at(1_800)];
  expect(await healthOf(success(first, late), success(second, early))).toEqual([late, null]);
  expect(await healthOf(failure(third, late))).toEqual([late, late]);
  expect(await healthOf(failure(fourth, later))).toEqual([late, late]);
  expect(await healthOf(success(fifth, early))).toEqual([late, null]);
});
