import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { commandLine } from '../../src/accounts/audit/record.ts';
import { freeze, thaw } from '../../src/commands/move/freeze.ts';
import { compare, handOver } from '../../src/commands/move/hand-over.ts';
import type { Moving } from '../../src/commands/move/parts.ts';
import { guarded } from '../../src/commands/move/tables.ts';
import { type Database, openDatabase, type Queryable } from '../../src/platform/db/database.ts';
import { call } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { insertWaiting } from '../support/insert-executions.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let source: TestService;
let target: TestService;
beforeAll(async () => {
  [source, target] = await Promise.all([startService(), startService({ cell: 'us' })]);
});
afterAll(async () => {
  await source.stop();
  await target.stop();
});

type Tenant = TestService & { accountUuid: string };

async function openAccount(): Promise<Tenant> {
  return { ...source, ...(await source.createAccount('Tenant')) };
}

async function read<Row extends object>(text: string, values: unknown[] = [], on = source): Promise<Row[]> {
  return (await on.db.pool.query<Row>(text, values)).rows;
}

/** What happens when a statement is about to be sent for the n-th time; rows that are returned are its answer. */
type Moments = Record<string, (n: number) => Promise<object[] | undefined>>;

function withMoments(db: Database, moments: Moments): Database {
  const counts = new Map<string, number>();
  const watch = (queryable: Queryable): Queryable => ({
    async query(statement, values) {
      const { name } = statement;
      const n = (counts.get(name) ?? 0) + 1;
      counts.set(name, n);
      return ((await moments[name]?.(n)) as never) ?? queryable.query(statement, values);
    },
  });
  return { ...db, ...watch(db), transaction: (work) => db.transaction((tx) => work(watch(tx))) };
}

/** A command's own, because its statements are for one account. */
function connectionTo({ databaseUrl }: TestService): Database {
  const db = openDatabase({ connectionString: databaseUrl, poolSize: 2, onError: () => {} });
  onTestFinished(() => db.end());
  return db;
}

/** Without replication: unless the target says otherwise, what the source has has arrived. */
function movingOf({ accountUuid }: Tenant, here: Moments = {}, there: Moments = {}): Moving {
  const db = connectionTo(source);
  return {
    tools: { ...source.service, ...commandLine } as unknown as Moving['tools'],
    source: withMoments(db, here),
    target: withMoments(db, there),
    accountUuid,
    name: `simplane_move_${accountUuid.replaceAll('-', '')}`,
    sourceUrl: '',
    cells: { source: null, target: 'us' },
    say: () => {},
  };
}

const lockWork = `move_lock_${guarded.length}`;
const lockAudit = 'move_lock_1';

/** What a client was told was done. */
const told = [
  ...['audit_log', 'bundles', 'esims', 'event_consumers', 'events', 'executions', 'idempotency_keys'],
];

const isTaken = `leased_until > now() + interval '1 year'`;
const worker = randomUUID();

/** As a worker does that takes up the account's orders, at the last moment. */
async function claim({ accountUuid }: Tenant): Promise<undefined> {
  await read(
    `update execution_queue set holder = $2, fence = fence + 1, leased_until = now() + interval '1 minute'
     where account_id = $1 and leased_until is null`,
    [accountUuid, worker],
  );
}

/** A decision of an operator that a worker carries out, and a state for the core. */
const insertReturn = ({ accountUuid }: Tenant) =>
  read(
    `insert into execution_resolutions (account_id, execution_id, outcome, decided_by, decided_at)
     values ($1, $2, 'not_reserved', '{}', now())`,
    [accountUuid, worker],
  );
const insertState = ({ accountUuid }: Tenant) =>
  read(
    `insert into core_queue (account_id, iccid, id, version, service, since, due_at) values ($1, '1', $2, 1, '{}', now(), now())`,
    [accountUuid, worker],
  );

const ordersOf = ({ accountUuid }: Tenant) =>
  read<object>(
    `select ${isTaken} as taken, holder, fence > 0 as fenced from execution_queue where account_id = $1`,
    [accountUuid],
  );
const taken = { taken: true, holder: null, fenced: true };

test('freezing takes orders, states and endpoints from who has them, before the last row is written', async () => {
  const account = await openAccount();
  const { accountUuid } = account;
  const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
  expect((await call(account, 'POST', '/v1/webhook_endpoints', { body })).status).toBe(201);
  await insertWaiting(account);
  await insertReturn(account);
  await insertState(account);
  const held = `leased_until = now() + interval '1 minute'`;
  await read(`update core_queue set holder = $2, ${held} where account_id = $1`, [accountUuid, worker]);
  await read(`update execution_resolutions set fence = 4, ${held} where account_id = $1`, [accountUuid]);
  await read(
    `insert into endpoint_leases (endpoint_id, account_id, holder, fence, leased_until)
     select id, account_id, $2, 7, now() + interval '1 minute' from webhook_endpoints where account_id = $1`,
    [accountUuid, worker],
  );
  const seen: object[] = [];
  await freeze(
    movingOf(account, {
      // It was free when the freeze looked first.
      [lockWork]: async () => {
        await read('update execution_queue set leased_until = null where account_id = $1', [accountUuid]);
        return claim(account);
      },
      [lockAudit]: async () => {
        const leases = `select holder = account_id as ours, ${isTaken} as taken, fence::integer from endpoint_leases where account_id = $1`;
        const returns = `select ${isTaken} as taken, fence::integer from execution_resolutions where account_id = $1`;
        const states = `select holder is null as ours, ${isTaken} as taken from core_queue where account_id = $1`;
        for (const text of [leases, returns, states]) seen.push(...(await read<object>(text, [accountUuid])));
        seen.push(...(await ordersOf(account)));
        return undefined;
      },
    }),
  );
  expect(seen).toEqual([
    { ours: true, taken: true, fence: 8 },
    { taken: true, fence: 5 },
    { ours: true, taken: true },
    taken,
  ]);
});

// An order without an Idempotency-Key writes nothing but its place in the queue and its audit entry.
test('an order that is accepted until the audit log is closed is left to the other cell alone', async () => {
  const account = await openAccount();
  await freeze(
    movingOf(account, {
      [lockAudit]: async (n) => {
        if (n === 1) await insertWaiting(account);
        return claim(account);
      },
    }),
  );
  expect(await ordersOf(account)).toEqual([taken]);
});

test('what a worker runs gets four seconds to end, is waited for no longer than it runs, and is taken then', async () => {
  const [ends, hangs] = [await openAccount(), await openAccount()];
  for (const account of [ends, hangs]) {
    await insertWaiting(account);
    await claim(account);
  }
  let takes = 0;
  await freeze(
    movingOf(ends, {
      move_take_leases: async (n) => {
        takes = n;
        if (n === 2) await read('delete from execution_queue where account_id = $1', [ends.accountUuid]);
        return undefined;
      },
    }),
  );
  expect(takes).toBe(2 + 2);

  let laterMs = 0;
  const now = performance.now.bind(performance);
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + laterMs);
  onTestFinished(() => later.mockRestore());
  const seen: object[] = [];
  await freeze(
    movingOf(hangs, {
      move_take_leases: async (n) => {
        takes = n;
        if (n <= 3) seen.push(...(await ordersOf(hangs)));
        if (n === 3) laterMs = 4_000;
        return undefined;
      },
    }),
  );
  expect([takes, seen]).toEqual([3 + 2, Array(3).fill({ taken: false, holder: worker, fenced: true })]);
  expect(await ordersOf(hangs)).toEqual([taken]);
});

test('freezing again waits for nothing that it has taken already, and for the new last row', async () => {
  const account = await openAccount();
  await insertWaiting(account);
  await freeze(movingOf(account));
  const text = `select id from audit_log where account_id = $1 and action = 'account.frozen'`;
  const arrived = await read<object>(text, [account.accountUuid]);
  let [takes, asked] = [0, 0];
  const count = async (n: number) => {
    takes = n;
    return undefined;
  };
  await freeze(
    movingOf(
      account,
      { move_take_leases: count },
      {
        move_last_entry: async (n) => {
          asked = n;
          return n === 1 ? arrived : undefined;
        },
      },
    ),
  );
  expect([arrived.length, takes, asked]).toEqual([1, 3, 2]);
});

/** Something of each kind that workers and senders hold for a while. */
async function giveWork(account: Tenant): Promise<void> {
  const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['*'] };
  expect((await call(account, 'POST', '/v1/webhook_endpoints', { body })).status).toBe(201);
  await insertWaiting(account);
  await insertReturn(account);
  await insertState(account);
  for (const table of ['execution_queue', 'execution_resolutions', 'core_queue'])
    await read(`update ${table} set leased_until = now() + interval '1 minute' where account_id = $1`, [
      account.accountUuid,
    ]);
  await read(
    `insert into endpoint_leases (endpoint_id, account_id, holder, fence, leased_until)
     select id, account_id, $2, 7, now() + interval '1 minute' from webhook_endpoints where account_id = $1`,
    [account.accountUuid, worker],
  );
}

async function workOf({ accountUuid }: Tenant): Promise<object[]> {
  const tables = ['execution_queue', 'execution_resolutions', 'core_queue', 'endpoint_leases'];
  const rows = tables.map((table) =>
    read<object>(
      `select leased_until, to_jsonb(one) ->> 'fence' as fence from ${table} one where account_id = $1`,
      [accountUuid],
    ),
  );
  return (await Promise.all(rows)).flat();
}

test('freezing and thawing an account leaves alone what is held for others, and waits for nothing of theirs', async () => {
  const [account, other] = [await openAccount(), await openAccount()];
  for (const one of [account, other]) await giveWork(one);
  const event = { type: 'esim.provisioned', data: {} };
  expect((await call(other, 'POST', '/v1/events/test', { body: event })).status).toBe(202);
  const before = await workOf(other);
  expect(before).toHaveLength(4);
  await read('update execution_queue set leased_until = null where account_id = $1', [account.accountUuid]);
  await freeze(movingOf(account));
  expect(await workOf(other)).toEqual(before);

  await sequenceEvents(source);
  await read('update execution_queue set leased_until = null where account_id = $1', [other.accountUuid]);
  await freeze(movingOf(other));
  const frozen = await workOf(other);
  await thaw(movingOf(account));
  expect(await workOf(other)).toEqual(frozen);
});

test('undoing a move that has frozen nothing yet takes nothing from workers and senders', async () => {
  const account = await openAccount();
  await giveWork(account);
  const before = await workOf(account);
  await thaw(movingOf(account));
  expect(await workOf(account)).toEqual(before);
});

test('a table that somebody changes is not waited for so long that the writes of others wait behind it', async () => {
  const account = await openAccount();
  const [holder, other] = [await source.db.pool.connect(), await source.db.pool.connect()];
  try {
    await holder.query('begin; lock table bundles in row exclusive mode');
    const freezing = freeze(movingOf(account));
    freezing.catch(() => {}); // the test awaits it later
    await until(
      () =>
        read(
          `select from pg_locks l join pg_database d on d.oid = l.database
           where d.datname = current_database() and l.relation = 'bundles'::regclass and not l.granted`,
        ),
      ({ length }) => length === 1,
    );
    await other.query(
      `begin; set local statement_timeout = '4s'; lock table bundles in row exclusive mode; commit`,
    );
    await holder.query('rollback');
    await freezing;
  } finally {
    holder.release(true);
    other.release(true);
  }
});

test('from the last row on, nobody writes to the audit log until the account’s is closed', async () => {
  const account = await openAccount();
  let code: unknown;
  const write = async () => {
    const client = await source.db.pool.connect();
    const insert = `begin; set local lock_timeout = '100ms'; insert into audit_log default values`;
    code = await client.query(insert).catch((error: { code: string }) => error.code);
    client.release(true);
    return undefined;
  };
  await freeze(movingOf(account, { move_guard_audit_log: write }));
  expect(code).toBe('55P03');
});

test('freezing waits until every event has its place, and until the other cell has the last row', async () => {
  const account = await openAccount();
  const event = { type: 'esim.provisioned', data: {} };
  expect((await call(account, 'POST', '/v1/events/test', { body: event })).status).toBe(202);
  let asked = 0;
  const unplaced = () =>
    read('select from unsequenced_events where account_id = $1', [account.accountUuid]).then(
      ({ length }) => length,
    );
  expect(await unplaced()).toBe(1);
  await freeze(
    movingOf(
      account,
      {
        move_unsequenced: async (n) => {
          if (n === 3) await sequenceEvents(source);
          return undefined;
        },
        [lockAudit]: async () => {
          expect(await unplaced()).toBe(0);
          return undefined;
        },
      },
      {
        // First it has nothing, then the mark of a freeze that was undone.
        move_last_entry: async (n) => {
          asked = n;
          return [[], [{ id: randomUUID() }]][n - 1];
        },
      },
    ),
  );
  expect([await unplaced(), asked]).toEqual([0, 3]);
});

test('a frozen account gets no new row and no changed one, others do, and thawed it is as before', async () => {
  const [account, other] = [await openAccount(), await openAccount()];
  const iccids = [await insertEsim(account), await insertEsim(other)];
  await insertWaiting(account);
  await insertReturn(account);
  await insertState(account);
  const moving = movingOf(account);
  await freeze(moving);
  // Triggers come before the other columns are missed.
  const insert = ({ accountUuid }: Tenant, table: string) =>
    read(
      `insert into ${table} select (jsonb_populate_record(null::${table}, jsonb_build_object('account_id', $1::text))).*`,
      [accountUuid],
    ).catch(({ code }) => code);
  const update = (iccid?: string) =>
    read(`update esims set country = 'DE' where iccid = $1`, [iccid]).catch(({ code }) => code);
  const codes = async (tenant: Tenant) => [
    ...new Set(await Promise.all(told.map((table) => insert(tenant, table)))),
  ];
  expect([await codes(account), await codes(other)]).toEqual([['40001'], ['23502']]);
  expect([await update(iccids[0]), await update(iccids[1])]).toEqual(['40001', []]);

  await thaw(moving);
  expect([await codes(account), await update(iccids[0])]).toEqual([['23502'], []]);
  // Nobody held it, so that it may still be canceled.
  expect(await ordersOf(account)).toEqual([{ ...taken, taken: null, fenced: false }]);
  for (const table of ['execution_resolutions', 'core_queue'])
    expect(
      await read(`select leased_until from ${table} where account_id = $1`, [account.accountUuid]),
      table,
    ).toEqual([{ leased_until: null }]);
  expect(await read('select from endpoint_leases where account_id = $1', [account.accountUuid])).toEqual([]);
});

test('what was taken is free in the other cell, where the account is from the same moment on', async () => {
  const account = await openAccount();
  const { accountUuid } = account;
  await insertWaiting(account);
  await insertReturn(account);
  await insertState(account);
  const moving = movingOf(account);
  await freeze(moving);
  await expectThere(account);
  await handOver({ ...moving, target: connectionTo(target) });
  for (const table of ['execution_queue', 'execution_resolutions', 'core_queue'])
    expect(
      await read(`select leased_until from ${table} where account_id = $1`, [accountUuid], target),
      table,
    ).toEqual([{ leased_until: null }]);
  const here = await call({ url: target.url, key: account.key }, 'GET', '/v1/me');
  expect(here.status).toBe(200);
});

function expectThere({ accountUuid }: Tenant) {
  const text = `insert into account_moves (account_id, state) values ($1, 'arriving')`;
  return read(text, [accountUuid], target);
}

const nameThere = ({ accountUuid }: Tenant) =>
  read('select name from accounts where id = $1', [accountUuid], target);

test('an account that works in the other cell is not handed over again, also by a run that does not know it', async () => {
  const account = await openAccount();
  const { accountUuid } = account;
  const moving = { ...movingOf(account), target: connectionTo(target) };
  await expectThere(account);
  await handOver(moving);
  await read(`update accounts set name = 'Renamed' where id = $1`, [accountUuid], target);
  await handOver(moving);
  expect(await nameThere(account)).toEqual([{ name: 'Renamed' }]);
});

test('of two runs that hand an account over at the same moment, one does', async () => {
  const account = await openAccount();
  await expectThere(account);
  let second: Promise<void> | undefined;
  const there = withMoments(connectionTo(target), {
    move_insert_accounts: async () => {
      second = handOver({ ...movingOf(account), target: connectionTo(target) });
      await Promise.race([second, untilLockIsAwaited(target)]);
      return undefined;
    },
  });
  await handOver({ ...movingOf(account), target: there });
  await second;
  expect(await nameThere(account)).toEqual([{ name: 'Tenant' }]);
});

test('what is handed over is of one moment, whatever is written meanwhile', async () => {
  const account = await openAccount();
  await expectThere(account);
  const insert = 'insert into batches (account_id, id, total, created_at) values ($1, $2, 1, now())';
  const moving = movingOf(account, {
    move_open_webhook_endpoints: async () => {
      await read(insert, [account.accountUuid, randomUUID()]);
      return undefined;
    },
  });
  await handOver({ ...moving, target: connectionTo(target) });
  const batches = 'select from batches where account_id = $1';
  expect(await read(batches, [account.accountUuid])).toHaveLength(1);
  expect(await read(batches, [account.accountUuid], target)).toEqual([]);
});

test('an account comes back over what its earlier stay has left, with all rows of every table', async () => {
  const account = await openAccount();
  const { accountUuid } = account;
  // More than is fetched or removed at once.
  const queue = (first: number, on: TestService) =>
    read(
      `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
       select $1, id, id, id, 'event', now()
       from (select lpad(n::text, 32, '0')::uuid as id from generate_series($2::integer, $2::integer + 2499) n) queued`,
      [accountUuid, first],
      on,
    );
  await queue(1, source);
  await queue(2_001, target);
  await read('insert into sealing_keys (id) values ($1)', ['0000000a']);
  const moving = { ...movingOf(account), target: connectionTo(target) };
  const open = `insert into accounts select (jsonb_populate_record(null::accounts, $1)).*`;
  const [row] = await read<{ row: object }>('select to_jsonb(accounts) as row from accounts where id = $1', [
    accountUuid,
  ]);
  await read(open, [{ ...row?.row, name: 'Of the earlier stay' }], target);
  await expectThere(account);
  await handOver(moving);
  expect(await nameThere(account)).toEqual([{ name: 'Tenant' }]);
  const queued = `select count(*)::integer as count, max(id::text) as last from delivery_queue where account_id = $1`;
  const [here] = await read<{ count: number }>(queued, [accountUuid]);
  expect(here?.count).toBe(2_500);
  expect(await read(queued, [accountUuid], target)).toEqual([here]);
  expect(await read('select from sealing_keys where id = $1', ['0000000a'], target)).toHaveLength(1);
});

test('an account is not handed over before the other cell has as many rows of it', async () => {
  const account = await openAccount();
  await insertEsim(account);
  let message = '';
  // In the last round the other cell knows of one table only, so that each one that is compared is named.
  const there = { move_count: async (n: number) => (n < 10 ? undefined : [{ name: 'esims', count: 0 }]) };
  await compare({ ...movingOf(account), target: withMoments(connectionTo(target), there) }).catch(
    (error: Error) => (message = error.message),
  );
  expect(message).toMatch(/do not have the same rows.*esims: 1 here, 0 there/);
  expect([...message.matchAll(/(\w+): \d+ here/g)].map(([, name]) => name)).toEqual([
    ...['audit_log', 'bundles', 'esim_metadata', 'esim_milestones', 'esims', 'event_feed', 'events'],
    ...['executions', 'order_counts', 'usage_records'],
  ]);
  // Rows that one side has removed for their age are soon gone on the other.
  const counted: number[] = [];
  const here = {
    move_count: async (n: number) => {
      counted.push(n);
      return n < 3 ? [{ name: 'events', count: 1 }] : [];
    },
  };
  await compare({ ...movingOf(account, here), target: connectionTo(target) });
  expect(counted).toEqual([1, 2, 3]);
});
