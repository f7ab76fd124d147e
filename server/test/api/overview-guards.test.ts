import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Database, Queryable } from '../../src/platform/db/database.ts';
import { countEvents } from '../../src/views/overview/count-events.ts';
import { readOverview } from '../../src/views/overview/get-for-operator.ts';
import {
  addCounts,
  type Count,
  claimUncounted,
  readUncounted,
} from '../../src/views/overview/sql/counting.ts';
import { readOpenOrders } from '../../src/views/overview/sql/reading.ts';
import { call, provision } from '../support/client.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const allAccounts = '00000000-0000-0000-0000-000000000000';

let service: TestService;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
});
afterAll(() => service.stop());

async function read<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  return (await service.db.pool.query<Row>(text, values)).rows;
}

/** A new account that is registered for counting. */
async function createAccount(): Promise<{ url: string; key: string; accountUuid: string }> {
  const account = { url: service.url, ...(await service.createAccount('Counted')) };
  await read(`insert into counted_events (account_id, position, counted_to) values ($1, 0, 'epoch')`, [
    account.accountUuid,
  ]);
  return account;
}

type Account = Awaited<ReturnType<typeof createAccount>>;

/** An order that has succeeded: its execution and its ICCID. */
async function ordered(account: Account): Promise<{ id: string; iccid: string }> {
  const { json } = await provision(account);
  const { json: ended } = await until(
    () => call(account, 'GET', `/v1/executions/${json.id}`),
    (reply) => reply.json.status === 'succeeded',
  );
  return ended;
}

async function sendTestEvent(account: Account, type: string, data: object): Promise<void> {
  const { status } = await call(account, 'POST', '/v1/events/test', { body: { type, data } });
  expect(status).toBe(202);
}

async function countsOf({ accountUuid }: Account): Promise<Record<string, number>> {
  const rows = await read<{ stage: string; count: number }>(
    'select stage, sum(count)::int as count from order_counts where account_id = $1 group by stage',
    [accountUuid],
  );
  return Object.fromEntries(rows.map(({ stage, count }) => [stage, count]));
}

/** Whose transactions fail instead of waiting for a lock, and wait for `hold` before they store how far they are. */
function impatient(hold: () => Promise<void> = async () => {}): Database {
  return {
    ...service.db,
    transaction: (work) =>
      service.db.transaction(async (tx) => {
        await tx.query({ name: 'test_lock_timeout', text: `set local lock_timeout = '5s'` });
        const held: Queryable = {
          async query(statement, values) {
            if (statement.name === 'overview_advance_counted') await hold();
            return tx.query(statement, values);
          },
        };
        return work(held);
      }),
  };
}

test('a process counts the events of other accounts while one is being counted, and none of that one', async () => {
  const [busy, free] = [await createAccount(), await createAccount()];
  await ordered(busy);
  await sequenceEvents(service);
  let isHeld = false;
  let goOn = () => {};
  const released = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const hold = () => {
    isHeld = true;
    return released;
  };
  const first = countEvents({ ...service, db: impatient(hold) });
  try {
    await until(
      async () => isHeld,
      (held) => held,
    );
    await countEvents({ ...service, db: impatient() }); // finds nothing else
    await sendTestEvent(free, 'esim.suspended', {});
    await sequenceEvents(service);
    await countEvents({ ...service, db: impatient() });
    const [place] = await read<{ position: number }>(
      'select position::int from counted_events where account_id = $1',
      [free.accountUuid],
    );
    expect(place).toEqual({ position: 1 });
  } finally {
    goOn();
    await first;
  }
  expect(await countsOf(busy)).toEqual({ provisioned: 1 });
});

test('processes that add to the same counts lock them in the same order', async () => {
  const account = await createAccount();
  const hour = new Date(3_600_000 * 480_000);
  const counts = Array.from({ length: 40 }, (_, n): Count => {
    const code = `c${String(40 - n).padStart(2, '0')}`;
    return { accountUuid: account.accountUuid, hour, stage: 'provisioned', code, bucket: 1, count: 1 };
  });
  await addCounts(service.db, counts);
  const locking = await service.db.pool.connect();
  try {
    await locking.query('begin');
    await locking.query(`select from order_counts where account_id = $1 and code = 'c01' for update`, [
      allAccounts,
    ]);
    const adding = addCounts(service.db, counts);
    await untilLockIsAwaited(service);
    const free = await read(
      `select from order_counts where hour = $1 and (account_id, code) <> ($2, 'c01') for update skip locked`,
      [hour, allAccounts],
    );
    expect(free).toHaveLength(79);
    await locking.query('commit');
    await adding;
  } finally {
    locking.release();
  }
});

test('an order and the progress of its eSIM are not counted if no window can show them', async () => {
  const account = await createAccount();
  const { iccid } = await ordered(account);
  const path = `/v1/sandbox/esims/${iccid}/simulate`;
  expect((await call(account, 'POST', path, { body: { action: 'download' } })).status).toBe(200);
  for (const table of ['executions', 'esims']) {
    await read(`update ${table} set created_at = created_at - interval '745 hours' where account_id = $1`, [
      account.accountUuid,
    ]);
  }
  await sequenceEvents(service);
  await countEvents(service);
  expect(await countsOf(account)).toEqual({});
});

test('an eSIM counts as installed if the network reported only that its profile was enabled', async () => {
  const account = await createAccount();
  const { iccid } = await ordered(account);
  const path = `/v1/sandbox/esims/${iccid}/simulate`;
  expect((await call(account, 'POST', path, { body: { action: 'enable' } })).status).toBe(200);
  await sequenceEvents(service);
  await countEvents(service);
  expect(await countsOf(account)).toEqual({ provisioned: 1, downloaded: 1, installed: 1 });
  const [event] = (await call(account, 'GET', '/v1/events?type=esim.enabled')).json.data;
  const reached = await read(
    `select floor(extract(epoch from reached_at))::integer as seconds from esim_milestones
     where account_id = $1 and stage = 'installed'`,
    [account.accountUuid],
  );
  expect(reached).toEqual([{ seconds: event.created }]);
});

test('an order counts if a test event that names it is counted in the same pass', async () => {
  const account = await createAccount();
  const { id, iccid } = await ordered(account);
  await sendTestEvent(account, 'esim.provisioned', { iccid, execution_id: id });
  await sequenceEvents(service);
  await countEvents(service);
  expect(await countsOf(account)).toEqual({ provisioned: 1 });
});

test('a backlog is counted to its end: of many events, and of many accounts', async () => {
  const emit = (accountUuids: string[], count: number) =>
    read(
      `insert into events (account_id, id, type, created_at, body)
       select account_id, uuid_v7(now()), 'esim.suspended', now(), '{}'
       from unnest($1::uuid[]) as account_id cross join generate_series(1, $2)`,
      [accountUuids, count],
    );
  const behind = async () =>
    (
      await read(
        `select from counted_events c join event_feed_heads h using (account_id) where h.last_position > c.position`,
      )
    ).length;
  const { accountUuid } = await createAccount();
  await emit([accountUuid], 1_000);
  await sequenceEvents(service);
  await emit([accountUuid], 10);
  await sequenceEvents(service);
  await countEvents(service);
  expect(await behind()).toBe(0);
  const accounts: string[] = [];
  for (let count = 0; count < 51; count++) accounts.push((await createAccount()).accountUuid);
  await emit(accounts, 1);
  await sequenceEvents(service);
  await countEvents(service);
  expect(await behind()).toBe(0);
});

test('a pass takes as many runs of an account as have its number of events, and leaves the rest', async () => {
  const { accountUuid } = await createAccount();
  for (let run = 0; run < 3; run++) {
    await read(
      `insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7(now()), 'esim.suspended', now(), '{}' from generate_series(1, 3)`,
      [accountUuid],
    );
    await sequenceEvents(service);
  }
  const claimed = [{ accountUuid, position: 0, lastPosition: 9 }];
  const rows = await readUncounted(service.db, claimed, { types: [], count: 5 });
  expect(rows.map(({ position }) => position)).toEqual([3, 6]);
});

test('counting goes on after what the feed has removed, and does not look at an account of which all is removed', async () => {
  const accounts = [await createAccount(), await createAccount()];
  for (const [index, { accountUuid }] of accounts.entries()) {
    await read(
      `insert into event_feed_heads (account_id, last_position, mark, newest_id, expired_through)
       values ($1, 9, 1, uuid_v7(now()), $2)`,
      [accountUuid, index === 0 ? 5 : 9],
    );
  }
  const own = new Set(accounts.map(({ accountUuid }) => accountUuid));
  const claimed = (await claimUncounted(service.db, 1_000))
    .map((one) => ({ ...one, accountUuid: one.accountUuid.replaceAll('-', '') }))
    .filter(({ accountUuid }) => own.has(accountUuid));
  expect(claimed).toEqual([{ accountUuid: accounts[0]?.accountUuid, position: 5, lastPosition: 9 }]);
  await read('delete from event_feed_heads where account_id = any($1)', [[...own]]);
});

test('the progress of an eSIM counts also while its order is open, and once', async () => {
  const account = await createAccount();
  const iccid = '8999901000000077777';
  await read(
    `insert into execution_queue (account_id, id, type, iccid, product_id, input, attempts, fence, created_at, due_at)
     select $1, uuid_v7(at), type, $2, 'p', '{}', 1, 1, at, now() + interval '1 day'
     from (values ('esim.suspend', now() - interval '1 minute'), ('esim.provision', now())) as open (type, at)`,
    [account.accountUuid, iccid],
  );
  await sendTestEvent(account, 'esim.downloaded', { iccid });
  await sequenceEvents(service);
  await countEvents(service);
  expect(await countsOf(account)).toEqual({ downloaded: 1 });
  const milestones = await read<{ id: string; type: string }>(
    `select type from esim_milestones m join execution_queue q on q.account_id = m.account_id and q.id = m.esim_id
     where m.account_id = $1`,
    [account.accountUuid],
  );
  expect(milestones).toEqual([{ type: 'esim.provision' }]);
  await read('delete from execution_queue where account_id = $1', [account.accountUuid]);
});

test('a stopping process counts no further', async () => {
  const db = { transaction: () => Promise.reject(new Error('counted')) } as unknown as Database;
  await countEvents({ db, clock: service.clock }, AbortSignal.abort());
  await expect(countEvents({ db, clock: service.clock })).rejects.toThrow('counted');
});

test('of more than 10,000 open orders the newest are counted', async () => {
  const account = await createAccount();
  await read(
    `insert into execution_queue (account_id, id, type, input, created_at, due_at)
     select $1, uuid_v7(at), 'esim.provision', '{}', at, now() + interval '1 hour'
     from (select case when n > 10000 then now() - interval '20 hours' else now() end as at
       from generate_series(1, 10003) n) accepted`,
    [account.accountUuid],
  );
  const { json } = await call(account, 'GET', '/v1/overview');
  expect(json.open_count).toBe(10_000);
  const accepted = json.hours.map((hour: { accepted: number }) => hour.accepted).filter(Boolean);
  expect(accepted).toEqual([10_000]);
  // The overview of all accounts stops counting there too, and of deliveries.
  await read(
    `insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
     select $1, uuid_v7(now()), uuid_v7(now()), $1, 'event', n::text, now() from generate_series(1, 10003) n`,
    [account.accountUuid],
  );
  const { backlogs } = await readOverview(service);
  expect([backlogs.executions.count, backlogs.deliveries.count]).toEqual([10_000, 10_000]);
  for (const table of ['execution_queue', 'blocked_deliveries'])
    await read(`delete from ${table} where account_id = $1`, [account.accountUuid]);
});

test('open orders are in the hours of UTC, wherever the database is', async () => {
  const account = await createAccount();
  const hourMs = 3_600_000;
  const hour = Math.floor(service.clock.nowMs() / hourMs) * hourMs - 5 * hourMs;
  await read(
    `insert into execution_queue (account_id, id, type, input, created_at, due_at)
     select $1, uuid_v7(at), 'esim.provision', '{}', at, now() + interval '1 hour'
     from unnest($2::timestamptz[]) as at`,
    [account.accountUuid, [1, 59].map((minute) => new Date(hour + minute * 60_000))],
  );
  const client = await service.db.pool.connect();
  try {
    await client.query(`set timezone to 'Asia/Kolkata'`); // half an hour beside the hours of UTC
    const query = async ({ text }: { text: string }, values: unknown[]) =>
      (await client.query(text, values)).rows;
    const all = { fromUuid: allAccounts, untilUuid: 'ffffffff-ffff-ffff-ffff-ffffffffffff' };
    const open = await readOpenOrders({ query } as unknown as Queryable, account.accountUuid, all);
    expect(open).toEqual([{ hour: new Date(hour), count: 2 }]);
  } finally {
    await client.query('reset timezone');
    client.release();
  }
  await read('delete from execution_queue where account_id = $1', [account.accountUuid]);
});

test('an overview has no orders from before or after its window, ended or open', async () => {
  const account = await createAccount();
  const hour = new Date(Math.floor(service.clock.nowMs() / 3_600_000) * 3_600_000 - 30 * 3_600_000);
  const { accountUuid } = account;
  await addCounts(service.db, [{ accountUuid, hour, stage: 'provisioned', code: '', bucket: 1, count: 1 }]);
  await read(
    `insert into execution_queue (account_id, id, type, input, created_at, due_at)
     select $1, uuid_v7(at), 'esim.provision', '{}', at, now() + interval '1 hour'
     from (select now() - interval '30 hours' as at) accepted`,
    [accountUuid],
  );
  const countsIn = async (query: string) => {
    const { json } = await call(account, 'GET', `/v1/overview${query}`);
    return [json.funnel[0].count, json.funnel[1].count, json.open_count];
  };
  expect(await countsIn('')).toEqual([0, 0, 0]);
  const start = hour.getTime() / 1_000;
  expect(await countsIn(`?from=${start - 3_600}`)).toEqual([2, 1, 1]);
  expect(await countsIn(`?from=${start - 3_600}&until=${start}`)).toEqual([0, 0, 0]);
  await read('delete from execution_queue where account_id = $1', [accountUuid]);
});

test('a search does not find an idempotency key that has expired', async () => {
  const account = await createAccount();
  await provision(account, 'expires-soon');
  const found = async () => (await call(account, 'GET', '/v1/search?q=expires-soon')).json.data.length;
  expect(await found()).toBe(1);
  await read(`update idempotency_keys set expires_at = $2 where account_id = $1`, [
    account.accountUuid,
    new Date(service.clock.nowMs()),
  ]);
  expect(await found()).toBe(0);
});
