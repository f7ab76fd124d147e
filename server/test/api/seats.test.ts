import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { lockAccount } from '../../src/accounts/lock-account.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import type { Network } from '../../src/network/port.ts';
import { acceptExecution } from '../../src/orders/executions/accept.ts';
import type { Seat } from '../../src/orders/executions/seats.ts';
import { acceptExecutionRows, type NewExecution } from '../../src/orders/executions/sql/accept.ts';
import { freeUnrun } from '../../src/orders/executions/sql/queue.ts';
import { uuidText } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

let service: TestService;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

const holder = '00000000-0000-4000-8000-000000000001';
const product = 'prod_europe_5gb_30d';
const mock = createMockNetwork({ delayMs: 0 });

/** A worker that claims once at its start, and then only when it is woken. */
async function startWorker(network = mock, concurrency = 8) {
  const { db } = service;
  const claimed: number[] = [];
  const recorded: typeof db = {
    ...db,
    async query<Row extends pg.QueryResultRow>(...statement: Parameters<typeof db.query>) {
      const rows = await db.query<Row>(...statement);
      if (statement[0].name === 'execution_claim') claimed.push(rows.length);
      return rows;
    },
  };
  service.startWorker(network, { db: recorded, concurrency, pollMs: 3_600_000 });
  await until(
    async () => claimed.length,
    (count) => count === 1,
  );
  return claimed;
}

function settled(executionId: string) {
  return until(
    async () => (await call(service, 'GET', `/v1/executions/${executionId}`)).json,
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function expectSeat(): Promise<void> {
  const seat = await service.service.seats.take();
  expect(seat).not.toBeNull();
  seat?.release();
}

const read = async (text: string) => (await service.db.pool.query(text)).rows;

test.each<[string, Network]>([
  ['with ICCIDs of the claim', mock],
  ['whose network must not be called before its matching id is stored', { ...mock, forgetsCalls: true }],
])('an order is run by the process that accepts it without a claim, %s', async (_, network) => {
  const claimed = await startWorker(network);
  for (let n = 0; n < 3; n++) {
    const { json } = await provision(service);
    expect(await settled(json.id)).toMatchObject({ status: 'succeeded', attempts: 1 });
  }
  expect(claimed).toEqual([0]);
});

test('an order that finds no room is claimed', async () => {
  const ordered: (() => void)[] = [];
  const claimed = await startWorker(
    {
      ...mock,
      order: (wanted) => new Promise<void>((open) => ordered.push(open)).then(() => mock.order(wanted)),
    },
    1,
  );
  const first = await provision(service);
  await vi.waitFor(() => expect(ordered).toHaveLength(1));
  const second = await provision(service);
  expect(await read('select from execution_queue where leased_until is null')).toHaveLength(1);
  ordered[0]?.();
  await vi.waitFor(() => expect(ordered).toHaveLength(2));
  ordered[1]?.();
  expect((await settled(first.json.id)).status).toBe('succeeded');
  expect((await settled(second.json.id)).status).toBe('succeeded');
  expect(claimed.filter((count) => count > 0)).toEqual([1]);
});

test('what is not accepted leaves its room to others', async () => {
  await startWorker(mock, 1);
  const { json } = await provision(service, 'once');
  await settled(json.id);
  for (let n = 0; n < 3; n++) {
    expect((await provision(service, 'once')).headers.get('idempotent-replayed')).toBe('true');
    expect((await provision(service, undefined, { product_id: 'prod_unknown' })).status).toBe(404);
  }
  await expectSeat();
  expect((await settled((await provision(service)).json.id)).status).toBe('succeeded');
});

test('orders that wait for the lock of their account hold no seats, and others are run', async () => {
  await startWorker(mock, 1);
  const limited = await service.createAccount('Limited');
  await service.db.pool.query('update accounts set max_open_executions = 10 where id = $1', [
    limited.accountUuid,
  ]);
  let waiting: ReturnType<typeof provision> | undefined;
  await service.db.transaction(async (tx) => {
    await lockAccount(tx, limited.accountUuid);
    waiting = provision({ url: service.url, key: limited.key });
    await untilLockIsAwaited(service);
    await expectSeat();
    expect((await settled((await provision(service)).json.id)).status).toBe('succeeded');
  });
  expect((await waiting)?.status).toBe(202);
});

test('an order that is held for a minute does not run before', async () => {
  await startWorker();
  const { json } = await provision(service, undefined, { product_id: 'prod_sandbox_held' });
  await settled((await provision(service)).json.id);
  expect((await call(service, 'GET', `/v1/executions/${json.id}`)).json).toMatchObject({
    ...{ status: 'queued', waiting_for: expect.stringContaining('60 seconds') },
  });
});

describe('if the answer to accepting an order is', () => {
  test.each([
    ['lost, its seat is abandoned', new Error('Connection terminated unexpectedly'), 'abandoned'],
    [
      'a refusal, its seat is released',
      Object.assign(new pg.DatabaseError('no', 0, 'error'), { code: '22001' }),
      'released',
    ],
  ])('%s', async (_, error, expected) => {
    const ends: string[] = [];
    const seat: Seat = {
      ...{ holder, leaseMs: 60_000, iccid: null },
      run: () => void ends.push('run'),
      release: () => void ends.push('released'),
      abandon: () => void ends.push('abandoned'),
    };
    const ctx = {
      ...service.service,
      db: { ...service.db, query: () => Promise.reject(error) },
      seats: { take: async () => seat },
      account: { uuid: service.accountUuid, limits: { openExecutions: null } },
      ...{ apiKey: null, requestId: null, ip: null },
    } as unknown as Parameters<typeof acceptExecution>[0];
    const order = { type: 'esim.provision' as const, productId: product, input: () => ({}) };
    const render = () => ({ status: 202, location: null, body: '{}' });
    await expect(acceptExecution(ctx, order, { claim: null, render })).rejects.toBe(error);
    expect(ends).toEqual([expected]);
  });
});

test('an order whose key was stored between its snapshot and its lock is tried again', async () => {
  let tries = 0;
  const query: typeof service.db.query = async (statement, values) => {
    if (++tries > 1) return service.db.query(statement, values);
    return [{ n: 1, outcome: 'overtaken' }] as never;
  };
  const ctx = {
    ...service.service,
    db: { ...service.db, query },
    seats: { take: async () => null },
    account: { uuid: service.accountUuid, limits: { openExecutions: null } },
    ...{ apiKey: null, requestId: null, ip: null },
  } as unknown as Parameters<typeof acceptExecution>[0];
  const order = { type: 'esim.provision' as const, productId: product, input: () => ({}) };
  const render = () => ({ status: 202, location: null, body: '{}' });
  expect(await acceptExecution(ctx, order, { claim: null, render })).toMatchObject({ kind: 'answered' });
  expect([tries, (await read('select from execution_queue')).length]).toEqual([2, 1]);
});

test('of orders that are accepted together, only those with a seat count as claimed: the others can be canceled', async () => {
  const actor = { type: 'api_key', id: null, name: null } as const;
  const row = (seat: NewExecution['seat']): NewExecution => ({
    ...{ accountUuid: service.accountUuid, uuid: uuidText(service.service.newUuid()) },
    ...{ type: 'esim.provision', productId: product, input: {}, createdAt: new Date(), claim: null, seat },
    answer: { status: 202, location: null, body: '{}' },
    audit: { actor, executionId: 'exec_1', requestId: null, ip: null, via: null },
  });
  await acceptExecutionRows(service.db, [row({ holder, leaseMs: 60_000, iccid: null }), row(null)]);
  const isLeased = 'extract(epoch from leased_until - now()) between 1 and 60';
  const columns = `holder, fence, attempts, ${isLeased} as is_leased`;
  expect(await read(`select ${columns} from execution_queue order by id`)).toEqual([
    { holder, fence: 1, attempts: 1, is_leased: true },
    { holder: null, fence: 0, attempts: 0, is_leased: null },
  ]);
});

test('only an order that was accepted with this worker’s lease and never run is made free, as if it had been claimed by none', async () => {
  await service.db.pool.query(
    `insert into execution_queue (account_id, id, type, product_id, input, created_at, due_at, attempts, fence, holder, leased_until)
     select $1, gen_random_uuid(), 'esim.provision', name, '{}', now(), now(), 1, fence, holder::uuid, lease
     from (values
       ('accepted', 1, $2, now() + interval '1 hour'),
       ('of another', 1, '00000000-0000-4000-8000-000000000002', now() + interval '1 hour'),
       ('claimed since', 2, $2, now() + interval '1 hour'),
       ('given back', 1, $2, null)) given (name, fence, holder, lease)`,
    [service.accountUuid, holder],
  );
  const before = await read(`select * from execution_queue where product_id <> 'accepted' order by id`);
  const { accountUuid } = service;
  const freed: string[] = [];
  for (const { id, product_id } of await read('select id, product_id from execution_queue')) {
    if (await freeUnrun(service.db, { accountUuid, uuid: id, holder })) freed.push(product_id);
  }
  expect(freed).toEqual(['accepted']);
  expect(await read(`select * from execution_queue where product_id <> 'accepted' order by id`)).toEqual(
    before,
  );
  const [{ id }] = (await read(`select id from execution_queue where product_id = 'accepted'`)) as [
    { id: string },
  ];
  expect(await read(`select fence, attempts, leased_until from execution_queue where id = '${id}'`)).toEqual([
    { fence: 0, attempts: 0, leased_until: null },
  ]);
});
