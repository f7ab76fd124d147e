import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { findDelivery } from '../../src/notify/webhooks/deliveries/sql/deliveries.ts';
import { cancelUndeliverable } from '../../src/notify/webhooks/endpoints/disable.ts';
import { reportHealth } from '../../src/notify/webhooks/endpoints/report-health.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import { lockRecovery } from '../../src/notify/webhooks/recoveries/sql.ts';
import { createStatsCollector } from '../../src/notify/webhooks/stats/collect.ts';
import { addHours } from '../../src/notify/webhooks/stats/sql.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

type Account = { url: string; key: string; accountUuid: string };

let service: TestService;
let account: Account;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
beforeEach(async () => {
  account = await createAccount();
});

async function createAccount(): Promise<Account> {
  return { url: service.url, ...(await service.createAccount('Guarded')) };
}

async function read<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await service.db.pool.query<Row>(text, values)).rows;
}

async function createEndpoint(of = account): Promise<{ id: string; path: string; uuid: string }> {
  const body = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['esim.*'] };
  const { json } = await call(of, 'POST', '/v1/webhook_endpoints', { body });
  return { id: json.id, path: `/v1/webhook_endpoints/${json.id}`, uuid: uuidOfId('we', json.id) as string };
}

async function sendEvent(of = account): Promise<string> {
  const body = { type: 'esim.suspended', data: {} };
  return (await call(of, 'POST', '/v1/events/test', { body })).json.id;
}

/** Runs `act` while another transaction has made this change, and commits it once `act` waits for it or has ended. */
async function during<T>(change: string, values: unknown[], act: () => Promise<T>): Promise<T> {
  const changing = await service.db.pool.connect();
  try {
    await changing.query('begin');
    await changing.query(change, values);
    const acting = act();
    await Promise.race([acting, untilLockIsAwaited(service)]);
    await changing.query('commit');
    return await acting;
  } finally {
    changing.release();
  }
}

/** Whose statements fail instead of waiting for a lock. Waits for `hold` before the statement with this name. */
function impatient(heldName = '', hold: () => Promise<void> = async () => {}): Database {
  const transaction: Database['transaction'] = (work) =>
    service.db.transaction(async (tx) => {
      await tx.query({ name: 'test_lock_timeout', text: `set local lock_timeout = '5s'` });
      const held: Queryable = {
        async query(statement, values) {
          if (statement.name === heldName) await hold();
          return tx.query(statement, values);
        },
      };
      return work(held);
    });
  return {
    ...service.db,
    transaction,
    query: (statement, values) => transaction((tx) => tx.query(statement, values)),
  };
}

/** Runs `act` while these rows are locked. */
async function whileLocked(rows: string, values: unknown[], act: () => Promise<void>): Promise<void> {
  const locking = await service.db.pool.connect();
  try {
    await locking.query('begin');
    await locking.query(`select from ${rows} for update`, values);
    await act();
  } finally {
    await locking.query('rollback');
    locking.release();
  }
}

test('an event is not queued for an endpoint that is being disabled', async () => {
  const { uuid, id } = await createEndpoint();
  const event = await sendEvent();
  await read('delete from delivery_queue where account_id = $1', [account.accountUuid]);
  const disable = `update webhook_endpoints set status = 'disabled' where id = $1`;
  const reply = await during(disable, [uuid], () =>
    call(account, 'POST', `/v1/events/${event}/replay`, { body: { webhook_endpoint_id: id } }),
  );
  expect(reply.status).toBe(409);
  expect(await read('select from delivery_queue where account_id = $1', [account.accountUuid])).toEqual([]);
});

test('of two changes of an endpoint at once, none is lost', async () => {
  const { uuid, path } = await createEndpoint();
  const change = `update webhook_endpoints set metadata = '{"first": "1"}', description = 'first' where id = $1`;
  const reply = await during(change, [uuid], () =>
    call(account, 'PATCH', path, { body: { metadata: { second: '2' } } }),
  );
  expect(reply.json).toMatchObject({ metadata: { first: '1', second: '2' }, description: 'first' });
});

test('deliveries of a disabled endpoint are canceled without waiting for one that is locked', async () => {
  await createEndpoint();
  for (let count = 0; count < 2; count++) await sendEvent();
  const [locked] = await read<{ id: string }>('select id from delivery_queue where account_id = $1', [
    account.accountUuid,
  ]);
  await read(`update webhook_endpoints set status = 'disabled' where account_id = $1`, [account.accountUuid]);
  const left = () => read('select id from delivery_queue where account_id = $1', [account.accountUuid]);
  await whileLocked('delivery_queue where id = $1', [locked?.id], async () => {
    await cancelUndeliverable(impatient(), service.clock);
    expect(await left()).toEqual([locked]);
  });
  await cancelUndeliverable(impatient(), service.clock);
  expect(await left()).toEqual([]);
});

test('the health of an endpoint is reported once, and a locked endpoint does not hold up the others', async () => {
  const endpoints = [await createEndpoint(), await createEndpoint()];
  const [busy, free] = endpoints.map(({ uuid }) => uuid);
  await read(`update webhook_endpoints set failing_since = $2, failure_count = 3 where account_id = $1`, [
    account.accountUuid,
    new Date(service.clock.nowMs() - 60_000),
  ]);
  const rule = { afterMs: 1_000, minFailures: 3 };
  const reported = async () =>
    (
      await read<{ id: string }>(
        `select replace(id::text, '-', '') as id from webhook_endpoints where account_id = $1 and reported_health = 'failing'`,
        [account.accountUuid],
      )
    ).map(({ id }) => id);
  await whileLocked('webhook_endpoints where id = $1', [busy], async () => {
    await reportHealth(impatient(), service.service, rule);
    expect(await reported()).toEqual([free]);
  });
  await reportHealth(impatient(), service.service, rule);
  expect(await reported()).toHaveLength(2);
  const events = await read(
    `select from events where account_id = $1 and type = 'webhook_endpoint.failing'`,
    [account.accountUuid],
  );
  expect(events).toHaveLength(2);
});

async function recover(of: Account, path: string): Promise<void> {
  expect((await call(of, 'POST', `${path}/recover`, { body: { since: 0 } })).status).toBe(202);
}

async function openRecoveries(of: Account): Promise<number> {
  const rows = await read('select from recoveries where account_id = $1 and finished_at is null', [
    of.accountUuid,
  ]);
  return rows.length;
}

/** Repeats like the chore, because the first batch waits for older transactions on the server. */
function finish(of: Account, db: Database): Promise<unknown> {
  return until(
    async () => {
      await runRecoveries(db, service.service);
      return openRecoveries(of);
    },
    (open) => open === 0,
  );
}

test('recoveries that are locked hold up no other: neither one that runs nor one that is to be closed', async () => {
  const [running, closing, free] = [account, await createAccount(), await createAccount()];
  for (const one of [running, closing, free]) await recover(one, (await createEndpoint(one)).path);
  await read(`update webhook_endpoints set status = 'disabled' where account_id = $1`, [closing.accountUuid]);
  const locked = [[running.accountUuid, closing.accountUuid]];
  await whileLocked('recoveries where account_id = any($1)', locked, async () => {
    // A lock makes the first batch of a recovery wait: as if it had begun.
    await read(
      `update recoveries set position = '00000000-0000-0000-0000-000000000001' where account_id = $1`,
      [free.accountUuid],
    );
    await finish(free, impatient());
    expect([await openRecoveries(running), await openRecoveries(closing)]).toEqual([1, 1]);
  });
  await finish(running, impatient());
  await finish(closing, impatient());
});

test('two recoveries of an endpoint run one after the other', async () => {
  const { path, uuid } = await createEndpoint();
  await sendEvent();
  await read('delete from delivery_queue where account_id = $1', [account.accountUuid]);
  for (let count = 0; count < 2; count++) await recover(account, path);
  // As if they had begun: the first batch waits for transactions that are open anywhere on the server.
  await read(`update recoveries set position = uuid_v7($2) where account_id = $1`, [
    account.accountUuid,
    new Date(service.clock.nowMs() + 1_800_000),
  ]);
  let isHeld = false;
  let goOn = () => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const hold = () => {
    isHeld = true;
    return released;
  };
  const first = runRecoveries(impatient('recovery_move', hold), service.service);
  try {
    await until(
      async () => isHeld,
      (held) => held,
    );
    expect(await runRecoveries(impatient(), service.service)).toBe(0);
    expect(await openRecoveries(account)).toBe(2);
  } finally {
    goOn();
    await first;
  }
  await finish(account, impatient());
  expect(await read('select from delivery_queue where endpoint_id = $1', [uuid])).toHaveLength(1);
});

test('of an account’s recoveries, the one that is at the newest event goes first', async () => {
  for (let count = 0; count < 2; count++) await recover(account, (await createEndpoint()).path);
  const [older, newer] = await read<{ id: string }>('select id from recoveries where account_id = $1', [
    account.accountUuid,
  ]);
  const positions = [
    ['00000000-0000-0000-0000-000000000001', older?.id],
    ['00000000-0000-0000-0000-000000000002', newer?.id],
  ];
  for (const place of positions) await read('update recoveries set position = $1 where id = $2', place);
  const next = await service.db.transaction((tx) => lockRecovery(tx, []));
  expect(next?.id).toBe(newer?.id);
  await finish(account, service.db);
});

test('a recovery finds the events of a machine whose clock is half an hour ahead', async () => {
  const { path, uuid } = await createEndpoint();
  await read(
    `insert into events (account_id, id, type, created_at, body)
     values ($1, uuid_v7($2), 'esim.suspended', now(), '{}')`,
    [account.accountUuid, new Date(service.clock.nowMs() + 1_800_000)],
  );
  await recover(account, path);
  await finish(account, service.db);
  expect(await read('select from delivery_queue where endpoint_id = $1', [uuid])).toHaveLength(1);
});

test('processes that add up the same hours lock them in the same order', async () => {
  const hours = Array.from({ length: 20 }, (_, n) => {
    const endpointUuid = `00000000-0000-7000-8000-0000000000${String(40 - n)}`;
    const counts = { hour: new Date(0), succeeded: 1, failed: 0, durations: [1] };
    return { accountUuid: account.accountUuid, endpointUuid, ...counts };
  });
  await addHours(service.db, hours);
  const first = ['00000000-0000-7000-8000-000000000021', account.accountUuid];
  await whileLocked('endpoint_hours where endpoint_id = $1 and account_id = $2', first, async () => {
    const adding = addHours(service.db, hours);
    await untilLockIsAwaited(service);
    const free = await read('select from endpoint_hours where account_id = $1 for update skip locked', [
      account.accountUuid,
    ]);
    expect(free).toHaveLength(19);
    adding.catch(() => {});
  });
});

test('hours are added up by result and bucket, whichever of the two has more buckets', async () => {
  const endpointUuid = '00000000-0000-7000-8000-000000000041';
  const ids = { accountUuid: account.accountUuid, endpointUuid, hour: new Date(0) };
  await addHours(service.db, [{ ...ids, succeeded: 1, failed: 2, durations: [1] }]);
  await addHours(service.db, [{ ...ids, succeeded: 10, failed: 20, durations: [10, 20, 30] }]);
  await addHours(service.db, [{ ...ids, succeeded: 100, failed: 200, durations: [100, 200] }]);
  const rows = await read(
    `select succeeded_count::integer as succeeded, failed_count::integer as failed, duration_counts::integer[] as durations
     from endpoint_hours where account_id = $1`,
    [account.accountUuid],
  );
  expect(rows).toEqual([{ succeeded: 111, failed: 222, durations: [111, 220, 30] }]);
});

test('an outage loses no statistics, also of the endpoints whose batch was not tried', async () => {
  let isDown = true;
  const db: Database = {
    ...service.db,
    query: (...statement) => (isDown ? Promise.reject(new Error('down')) : service.db.query(...statement)),
  };
  const stats = createStatsCollector(db);
  for (let n = 0; n < 1_100; n++) {
    const endpointUuid = `00000000-0000-7000-8000-00000000${String(n).padStart(4, '0')}`;
    const attempt = { accountUuid: account.accountUuid, endpointUuid, at: new Date(0) };
    stats.record({ ...attempt, durationMs: 1, isSuccess: true });
  }
  await expect(stats.flush()).rejects.toThrow('down');
  isDown = false;
  await stats.flush();
  const [sum] = await read('select count(*)::int from endpoint_hours where account_id = $1', [
    account.accountUuid,
  ]);
  expect(sum).toEqual({ count: 1_100 });
});

/** Ends a queued delivery in a statement of its own, as its sender does. */
const endDelivery = (status: string) => `
  with ended as (delete from delivery_queue where id = $1 returning account_id, id, event_id, endpoint_id, origin, created_at)
  insert into deliveries (account_id, id, event_id, endpoint_id, origin, created_at, status, attempt_count, finished_at)
  select *, '${status}', 1, now() from ended`;

async function deliveryOf(event: string): Promise<{ id: string; uuid: string }> {
  const [{ id }] = (await call(account, 'GET', `/v1/events/${event}/deliveries`)).json.data;
  return { id, uuid: uuidOfId('dlv', id) as string };
}

test.each([
  ['succeeds', 'succeeded', 409, 0],
  ['fails', 'failed', 202, 1],
])(
  'a delivery that %s while it is retried is sent again only if it has to be',
  async (_, ended, status, queued) => {
    await createEndpoint();
    const { id, uuid } = await deliveryOf(await sendEvent());
    const reply = await during(endDelivery(ended), [uuid], () =>
      call(account, 'POST', `/v1/deliveries/${id}/retry`),
    );
    expect(reply.status).toBe(status);
    const rows = await read('select from delivery_queue where account_id = $1', [account.accountUuid]);
    expect(rows).toHaveLength(queued);
  },
);

test('a retry is refused if its endpoint is disabled meanwhile', async () => {
  const endpoint = await createEndpoint();
  const { id, uuid } = await deliveryOf(await sendEvent());
  await read(endDelivery('failed'), [uuid]);
  const disable = `update webhook_endpoints set status = 'disabled' where id = $1`;
  const { status, json } = await during(disable, [endpoint.uuid], () =>
    call(account, 'POST', `/v1/deliveries/${id}/retry`),
  );
  expect([status, json.error?.code]).toEqual([409, 'state_conflict']);
  expect(await read('select from delivery_queue where account_id = $1', [account.accountUuid])).toEqual([]);
});

test('a delivery is shown with the attempts that it counted when it was read', async () => {
  await createEndpoint();
  const { uuid } = await deliveryOf(await sendEvent());
  const addAttempt = async () => {
    await read(
      `with tried as (update delivery_queue set attempt_count = attempt_count + 1 where id = $1 returning account_id, attempt_count)
       insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms)
       select account_id, $1, attempt_count, now(), 1 from tried`,
      [uuid],
    );
  };
  await addAttempt();
  const db: Queryable = {
    async query(statement, values) {
      if (statement.name === 'delivery_list_attempts') await addAttempt();
      return service.db.query(statement, values);
    },
  };
  const row = await findDelivery(db, account.accountUuid, uuid);
  expect([row?.attempt_count, row?.attempts.length]).toEqual([1, 1]);
});

test('senders are told of an event about an endpoint’s health', async () => {
  await createEndpoint();
  await read(
    `update webhook_endpoints set failing_since = 'epoch', failure_count = 3 where account_id = $1`,
    [account.accountUuid],
  );
  const announced: unknown[][] = [];
  const signals = { announce: (...signal: unknown[]) => announced.push(signal) };
  await reportHealth(service.db, { ...service.service, signals }, { afterMs: 1_000, minFailures: 3 });
  const [{ uuid }] = (await read<{ uuid: string }>('select $1::uuid as uuid', [account.accountUuid])) as [
    { uuid: string },
  ];
  expect(announced).toEqual([['deliveries', uuid]]);
});
