import { idPrefixes } from '@simplane/contract';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { finishBatches } from '../../src/orders/batches/finish-due.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
import type { WorkQueue } from '../../src/platform/worker/work-queue.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { countRows } from '../support/count-rows.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;
type Target = { url: string; key: string };

const europe = 'prod_europe_5gb_30d';
const held = 'prod_sandbox_held';
const declined = 'prod_sandbox_declined';

let service: TestService;
let operator: Target;
let workers: Pick<WorkQueue, 'wake' | 'stop'>[] = [];
beforeAll(async () => {
  service = await startService();
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
  await call(operator, 'POST', '/v1/operator/products/prod_us_1gb_7d/deactivate');
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.stop(0)));
  workers = [];
});
afterAll(() => service.stop());

const startWorker = () => void workers.push(service.startWorker(createMockNetwork({ delayMs: 0 })));

async function openAccount(limits: object = {}): Promise<Target & { id: string }> {
  const { id } = (
    await call(operator, 'POST', '/v1/operator/accounts', { body: { name: 'Tenant', ...limits } })
  ).json;
  const scopes = ['read', 'write', 'admin'];
  const created = await call(operator, 'POST', `/v1/operator/accounts/${id}/api_keys`, { body: { scopes } });
  return { id, url: service.url, key: created.json.key };
}

const send = (target: Target, body: object, idempotencyKey?: string) =>
  call(target, 'POST', '/v1/batches', { body, ...(idempotencyKey !== undefined && { idempotencyKey }) });

async function get(target: Target, path: string): Promise<Json> {
  const { status, json, text } = await call(target, 'GET', path);
  expect(status, text).toBe(200);
  return json;
}

async function created(target: Target, body: object): Promise<Json> {
  const { status, json, text } = await send(target, body);
  expect(status, text).toBe(202);
  return json;
}

const ended = (target: Target, { id }: Json) =>
  until(
    () => get(target, `/v1/batches/${id}`),
    ({ open }) => open === 0,
  );

const finishAll = () => finishBatches(service.db, service.service);

function refusalOf({ status, json, headers }: Reply) {
  const { request_id: _, ...error } = json.error;
  return { status, error, retryAfter: headers.get('retry-after') };
}

describe('a batch', () => {
  test('is accepted with one answer, and each of its orders becomes an eSIM, with the batch’s id on its execution and event', async () => {
    const tenant = await openAccount();
    const answer = await send(tenant, { product_id: europe, quantity: 20 });
    const { id } = answer.json;
    expect([answer.status, answer.headers.get('location')]).toEqual([202, `/v1/batches/${id}`]);
    const accepted = {
      ...{ id: expect.stringMatching(/^bat_/), object: 'batch', product_id: europe, total: 20 },
      ...{ succeeded: 0, failed: 0, canceled: 0, open: 20, created: expect.any(Number), finished_at: null },
    };
    expect(answer.json).toEqual(accepted);
    expect(await get(tenant, `/v1/batches/${id}`)).toEqual(answer.json);
    startWorker();
    expect(await ended(tenant, answer.json)).toMatchObject({ succeeded: 20, failed: 0 });
    const { data: executions } = await get(tenant, `/v1/executions?batch_id=${id}&limit=100`);
    expect(executions).toHaveLength(20);
    for (const one of executions) {
      expect(one).toMatchObject({ batch_id: id, status: 'succeeded', price: { currency: 'eur' } });
    }
    const { data: events } = await get(tenant, '/v1/events?type=esim.provisioned&limit=100');
    expect(events.map(({ data }: Json) => data.batch_id)).toEqual(Array(20).fill(id));
    const single = await until(
      async () => get(tenant, `/v1/executions/${(await provision(tenant)).json.id}`),
      () => true,
    );
    expect(single).not.toHaveProperty('batch_id');
  });

  test('of single orders keeps what each says, in their order', async () => {
    const tenant = await openAccount();
    const orders = [
      { product_id: europe, reference: 'B-1', metadata: { room: '1' } },
      { product_id: 'prod_gb_5gb_30d', reference: 'B-2', eid: '89049032123451234512345678901235' },
      { product_id: europe },
    ];
    const batch = await created(tenant, { orders });
    expect(batch).toMatchObject({ product_id: null, total: 3 });
    startWorker();
    await ended(tenant, batch);
    const { data } = await get(tenant, '/v1/esims');
    expect(
      data.map(({ product_id, reference, metadata, eid }: Json) => ({
        product_id,
        reference,
        metadata,
        eid,
      })),
    ).toEqual(orders.toReversed().map((order) => ({ reference: null, metadata: {}, eid: null, ...order })));
    const path = `/v1/executions?batch_id=${batch.id}`;
    expect((await get(tenant, `${path}&reference=B-2`)).data).toHaveLength(1);
    expect((await get(tenant, `${path}&reference=B-2&type=bundle.add`)).data).toHaveLength(0);
    expect((await get(tenant, `/v1/executions?batch_id=bat_none`)).data).toHaveLength(0);
    const priceOf = async (id: string) => (await get(tenant, `/v1/products/${id}`)).price;
    const prices = await Promise.all(orders.map(({ product_id: id }) => priceOf(id)));
    expect((await get(tenant, path)).data.map(({ price }: Json) => price)).toEqual(prices.toReversed());
    expect(prices[0]).not.toEqual(prices[1]);
    const first = await get(tenant, `${path}&limit=2&status=succeeded`);
    const rest = await get(tenant, `${path}&limit=2&status=succeeded&starting_after=${first.next_cursor}`);
    expect([...first.data, ...rest.data].map(({ reference }: Json) => reference)).toEqual([
      null,
      'B-2',
      'B-1',
    ]);
  });

  test('runs once per key, whoever repeats it, and with another body is refused', async () => {
    const tenant = await openAccount();
    const body = { product_id: held, quantity: 5 };
    const answers = await Promise.all([1, 2, 3].map(() => send(tenant, body, 'batch-1')));
    const again = await send(tenant, body, 'batch-1');
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([202, 'true']);
    for (const { status, text } of answers) if (status !== 409) expect(text).toBe(again.text);
    expect((await get(tenant, '/v1/batches')).data).toHaveLength(1);
    expect((await get(tenant, '/v1/executions?limit=100')).data).toHaveLength(5);
    expect((await send(tenant, { ...body, quantity: 6 }, 'batch-1')).json.error.code).toBe(
      'idempotency_key_reused',
    );
  });

  const good = { product_id: europe };
  const refusals: [string, object, string, string][] = [
    [
      'an unknown product',
      { orders: [good, { product_id: 'prod_missing' }] },
      'resource_missing',
      'orders[1].product_id',
    ],
    [
      'an inactive product',
      { orders: [good, { product_id: 'prod_us_1gb_7d' }] },
      'state_conflict',
      'orders[1].product_id',
    ],
    [
      'a wrong EID',
      { orders: [good, good, { ...good, eid: '8'.repeat(32) }] },
      'parameter_invalid',
      'orders[2].eid',
    ],
    [
      'a malformed field',
      { orders: [good, { ...good, reference: '' }] },
      'parameter_invalid',
      'orders[1].reference',
    ],
    ['an unknown field', { orders: [{ ...good, count: 3 }] }, 'parameter_unknown', 'orders[0].count'],
    ['no product of an order', { orders: [{}] }, 'parameter_missing', 'orders[0].product_id'],
    ['no orders', { orders: [] }, 'parameter_invalid', 'orders'],
    ['too many orders', { orders: Array(1_001).fill(good) }, 'parameter_invalid', 'orders'],
    ['too large a quantity', { ...good, quantity: 1_001 }, 'parameter_invalid', 'quantity'],
    [
      'an unknown product for all',
      { product_id: 'prod_missing', quantity: 2 },
      'resource_missing',
      'product_id',
    ],
    ['both ways at once', { ...good, orders: [good] }, 'parameter_invalid', 'product_id'],
    ['a quantity beside orders', { quantity: 1, orders: [good] }, 'parameter_invalid', 'quantity'],
    ['nothing', {}, 'parameter_missing', 'orders'],
    ['a product without a quantity', good, 'parameter_missing', 'quantity'],
    ['a quantity without a product', { quantity: 3 }, 'parameter_missing', 'product_id'],
  ];
  test.each(refusals)('is refused whole, and names the order: %s', async (_, body, code, param) => {
    const tenant = await openAccount();
    const before = await countRows(service.db);
    const refused = refusalOf(await send(tenant, body));
    expect(refused.error).toMatchObject({ code, param });
    expect(refusalOf(await send(tenant, { ...body, dry_run: true }))).toEqual(refused);
    expect(await countRows(service.db)).toEqual(before);
  });

  test('of 1,000 orders is one write of 1,000 rows', async () => {
    const tenant = await openAccount();
    const before = await countRows(service.db);
    const batch = await created(tenant, { product_id: held, quantity: 1_000 });
    const after = await countRows(service.db);
    const added = Object.fromEntries(
      Object.entries(after).flatMap(([table, count]) =>
        count === before[table] ? [] : [[table, count - (before[table] ?? 0)]],
      ),
    );
    expect(added).toEqual({ batches: 1, execution_queue: 1_000, audit_log: 1 });
    const canceled = await call(tenant, 'POST', `/v1/batches/${batch.id}/cancel`);
    expect(canceled.json).toMatchObject({ total: 1_000, failed: 1_000, canceled: 1_000, open: 0 });
  });

  test('counts as its orders for the account’s limit, and its dry run too', async () => {
    const tenant = await openAccount({ max_open_executions: 5 });
    const body = { product_id: held, quantity: 6 };
    const refused = refusalOf(await send(tenant, body));
    expect([refused.status, refused.error.code]).toEqual([429, 'execution_limit_reached']);
    expect(refused.retryAfter).toBe('1');
    expect(refused.error.message).toMatch(/^6 more executions would exceed the account’s limit of 5 /);
    expect(refusalOf(await send(tenant, { ...body, dry_run: true }))).toEqual(refused);
    const dry = await send(tenant, { ...body, quantity: 5, dry_run: true });
    const products = [
      { product_id: held, quantity: 5, price: { amount: expect.any(Number), currency: 'eur' } },
    ];
    const wanted = {
      object: 'dry_run',
      type: 'esim.provision',
      iccid: null,
      total: 5,
      products,
      in_stock: null,
    };
    expect([dry.status, dry.json]).toEqual([200, wanted]);
    expect((await send(tenant, { ...body, quantity: 3 })).status).toBe(202);
    expect((await send(tenant, { ...body, quantity: 3 })).status).toBe(429);
    expect((await send(tenant, { ...body, quantity: 2 })).status).toBe(202);
    expect((await provision(tenant)).json.error.message).toMatch(/^The account has reached its limit of 5 /);
  });

  test('is refused while ten of the account are unfinished, also when they are sent at once', async () => {
    const [tenant, other] = [await openAccount(), await openAccount()];
    const body = { product_id: held, quantity: 1 };
    for (let n = 0; n < 8; n++) await created(tenant, body);
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(tenant, body)));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(2);
    const refused = refusalOf(await send(tenant, body));
    expect([refused.status, refused.error.code, refused.retryAfter]).toEqual([
      429,
      'batch_limit_reached',
      '1',
    ]);
    expect(refusalOf(await send(tenant, { ...body, dry_run: true }))).toEqual(refused);
    expect((await send(other, body)).status).toBe(202);
    const [last] = (await get(tenant, '/v1/batches?limit=1')).data;
    await call(tenant, 'POST', `/v1/batches/${last.id}/cancel`);
    await finishAll();
    expect((await send(tenant, body)).status).toBe(202);
  });

  test('belongs to its account alone', async () => {
    const [tenant, other] = [await openAccount(), await openAccount()];
    const { id } = await created(tenant, { product_id: held, quantity: 1 });
    for (const [method, path] of [
      ['GET', `/v1/batches/${id}`],
      ['POST', `/v1/batches/${id}/cancel`],
    ] as const) {
      expect((await call(other, method, path)).status).toBe(404);
    }
    expect((await get(other, '/v1/batches')).data).toEqual([]);
    expect((await get(other, `/v1/executions?batch_id=${id}`)).data).toEqual([]);
    expect((await get(tenant, `/v1/batches/${id}`)).open).toBe(1);
  });

  test('is listed by the time of its creation', async () => {
    const tenant = await openAccount();
    const first = await created(tenant, { product_id: held, quantity: 1 });
    service.clock.advance(10_000);
    const second = await created(tenant, { product_id: held, quantity: 1 });
    const listed = async (range: string) =>
      (await get(tenant, `/v1/batches?${range}`)).data.map(({ id }: Json) => id);
    expect(await listed(`created[gt]=${first.created}`)).toEqual([second.id]);
    expect(await listed(`created[gte]=${first.created}`)).toEqual([second.id, first.id]);
    expect(await listed(`created[lt]=${second.created}`)).toEqual([first.id]);
  });

  test('is found by the search and by the audit log, from each of its orders', async () => {
    const tenant = await openAccount();
    const { id } = await created(tenant, { product_id: held, quantity: 2 });
    const found = (await get(tenant, `/v1/search?q=${id}`)).data;
    expect(found).toMatchObject([{ type: 'batch', title: 'Batch: 2 orders', path: `/v1/batches/${id}` }]);
    const entry = {
      action: 'batch.created',
      target: { type: 'batch', id },
      changes: { total: 2, product_id: held },
    };
    for (const { id: order } of (await get(tenant, `/v1/executions?batch_id=${id}`)).data) {
      expect((await get(tenant, `/v1/audit_log?target=${order}`)).data).toMatchObject([entry]);
    }
  });

  test('adds up at every read while its orders end: total = succeeded + failed + open', async () => {
    const tenant = await openAccount();
    const orders = Array.from({ length: 300 }, (_, n) => ({ product_id: n % 3 === 0 ? declined : europe }));
    const batch = await created(tenant, { orders });
    startWorker();
    const seen: Json[] = [];
    await until(
      async () => {
        seen.push(await get(tenant, `/v1/batches/${batch.id}`), ...(await get(tenant, '/v1/batches')).data);
        return seen.at(-1);
      },
      ({ open }) => open === 0,
    );
    for (const { total, succeeded, failed, open } of seen) expect(succeeded + failed + open).toBe(total);
    expect(seen.at(-1)).toMatchObject({ succeeded: 200, failed: 100, canceled: 0 });
  });
});

describe('batch.finished', () => {
  const finishedOf = async (target: Target) =>
    (await get(target, '/v1/events?type=batch.finished')).data.map(({ data }: Json) => data);

  test('is told once, after the last order has ended, by however many processes look', async () => {
    const tenant = await openAccount();
    const batch = await created(tenant, { orders: [{ product_id: europe }, { product_id: declined }] });
    await finishAll();
    expect(await finishedOf(tenant)).toEqual([]);
    startWorker();
    await ended(tenant, batch);
    expect((await get(tenant, `/v1/batches/${batch.id}`)).finished_at).toBeNull();
    await Promise.all(Array.from({ length: 4 }, finishAll));
    await finishAll();
    expect(await finishedOf(tenant)).toEqual([
      { batch_id: batch.id, total: 2, succeeded: 1, failed: 1, canceled: 0 },
    ]);
    expect((await get(tenant, `/v1/batches/${batch.id}`)).finished_at).toEqual(expect.any(Number));
  });

  test('is not told again when another process has finished it meanwhile', async () => {
    const tenant = await openAccount();
    const batch = await created(tenant, { product_id: held, quantity: 1 });
    await call(tenant, 'POST', `/v1/batches/${batch.id}/cancel`);
    // Both have found it; the first commits while the second waits to update it.
    let second: Promise<void> | undefined;
    await service.db.transaction(async (tx) => {
      await tx.query(
        { name: 'test_finish', text: 'update batches set finished_at = now() where finished_at is null' },
        [],
      );
      second = finishAll();
      await second;
    });
    expect(await finishedOf(tenant)).toEqual([]);
  });

  test('is announced at once for each account, and left to others by a process that stops', async () => {
    await finishAll();
    const tenants = [await openAccount(), await openAccount()];
    for (const tenant of tenants) {
      const batch = await created(tenant, { product_id: held, quantity: 1 });
      await call(tenant, 'POST', `/v1/batches/${batch.id}/cancel`);
    }
    const announced: string[] = [];
    const announce = (topic: string, subject = '') =>
      void announced.push(`${topic} ${idOfUuid(idPrefixes.account, subject)}`);
    const deps = { ...service.service, signals: { announce } };
    await finishBatches(service.db, deps, AbortSignal.abort());
    expect(announced).toEqual([]);
    await finishBatches(service.db, deps);
    expect(announced).toEqual(tenants.map(({ id }) => `deliveries ${id}`));
  });

  test('comes once although the operator starts a failed order again, which then counts as the new one', async () => {
    const tenant = await openAccount();
    const batch = await created(tenant, { orders: [{ product_id: europe }, { product_id: declined }] });
    startWorker();
    await ended(tenant, batch);
    await finishAll();
    await Promise.all(workers.map((worker) => worker.stop(0)));
    const { data } = await get(tenant, `/v1/executions?batch_id=${batch.id}&status=failed`);
    const retried = await call(operator, 'POST', `/v1/operator/executions/${data[0].id}/retry`);
    expect(retried.json.batch_id).toBe(batch.id);
    expect(await get(tenant, `/v1/batches/${batch.id}`)).toMatchObject({
      total: 2,
      succeeded: 1,
      failed: 0,
      open: 1,
    });
    startWorker();
    expect(await ended(tenant, batch)).toMatchObject({ total: 2, succeeded: 1, failed: 1, open: 0 });
    await finishAll();
    expect(await finishedOf(tenant)).toHaveLength(1);
  });
});

describe('canceling a batch', () => {
  test('ends what has not reached the network, each order with its event, and leaves the rest', async () => {
    const tenant = await openAccount();
    const orders = [
      { product_id: europe },
      ...Array(3).fill({ product_id: held, metadata: { k: 'find-me' } }),
    ];
    const batch = await created(tenant, { orders });
    startWorker();
    await until(
      () => get(tenant, `/v1/batches/${batch.id}`),
      ({ succeeded }) => succeeded === 1,
    );
    const path = `/v1/batches/${batch.id}/cancel`;
    const canceled = await call(tenant, 'POST', path, { idempotencyKey: 'cancel' });
    const counts = { total: 4, succeeded: 1, failed: 3, canceled: 3, open: 0 };
    expect([canceled.status, canceled.json]).toEqual([200, expect.objectContaining(counts)]);
    const { data: failures } = await get(tenant, '/v1/events?type=esim.provisioning_failed');
    expect(failures).toHaveLength(3);
    for (const { data } of failures) {
      expect(data).toMatchObject({ batch_id: batch.id, product_id: held, error: { code: 'canceled' } });
    }
    expect((await get(tenant, '/v1/executions?error_code=canceled')).data).toHaveLength(3);
    expect((await get(tenant, '/v1/search?q=find-me')).data).toHaveLength(3);
    // Again, and with the same key: nothing more happens.
    expect((await call(tenant, 'POST', path)).json).toMatchObject(counts);
    expect((await call(tenant, 'POST', path, { idempotencyKey: 'cancel' })).text).toBe(canceled.text);
    const entries = (await get(tenant, `/v1/audit_log?target=${batch.id}&action=batch.canceled`)).data;
    expect(entries).toMatchObject([{ changes: { canceled: 3 } }]);
  });

  test('ends orders that have a number from a range already, which goes back', async () => {
    const tenant = await openAccount();
    const batch = await created(tenant, { product_id: held, quantity: 2 });
    const iccid = '8988303000000000002';
    await service.db.query(
      {
        name: 'test_allot_unsent',
        text: `update execution_queue set iccid = $1, fence = 1, attempts = 1, progress = '{"sent_order": false}' where id = (
          select id from execution_queue order by id desc limit 1)`,
      },
      [iccid],
    );
    const { json } = await call(tenant, 'POST', `/v1/batches/${batch.id}/cancel`);
    expect(json).toMatchObject({ failed: 2, canceled: 2, open: 0 });
    expect((await get(tenant, '/v1/events?type=esim.provisioning_failed')).data).toHaveLength(2);
    const { rows } = await service.db.pool.query('select iccid from returned_iccids');
    expect(rows).toEqual([{ iccid }]);
  });

  test('does not touch an order that a worker has claimed, nor one of another batch', async () => {
    const tenant = await openAccount();
    const other = await created(tenant, { product_id: held, quantity: 1 });
    const batch = await created(tenant, { product_id: held, quantity: 2 });
    const { data } = await get(tenant, `/v1/executions?batch_id=${batch.id}`);
    let answer: Promise<Reply> | undefined;
    await service.db.transaction(async (tx) => {
      const claim = {
        name: 'test_claim',
        text: `update execution_queue set fence = 1, attempts = 1, leased_until = now() + interval '1 hour'
          where input ->> 'batch_id' is not null and id = (
            select id from execution_queue order by id desc limit 1)`,
      };
      await tx.query(claim, []);
      answer = call(tenant, 'POST', `/v1/batches/${batch.id}/cancel`);
      await untilLockIsAwaited(service);
    });
    expect((await answer)?.json).toMatchObject({ failed: 1, canceled: 1, open: 1 });
    expect((await get(tenant, `/v1/executions/${data[0].id}`)).status).toBe('running');
    expect((await get(tenant, `/v1/batches/${other.id}`)).open).toBe(1);
  });
});
