import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { createIccidSource } from '../../src/orders/esims/iccid.ts';
import { createDatabaseClock } from '../../src/platform/db/database-clock.ts';
import { startHeartbeat } from '../../src/platform/processes/start-heartbeat.ts';
import { createThroughput } from '../../src/platform/telemetry/throughput.ts';
import { call, type Reply } from '../support/client.ts';
import { countRows } from '../support/count-rows.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { untilLockIsAwaited } from '../support/until-lock-is-awaited.ts';

const europe = 'prod_europe_5gb_30d';
const price = { amount: expect.any(Number), currency: 'eur' };

let service: TestService;
let operator: { url: string; key: string };
let iccid: string;
beforeAll(async () => {
  service = await startService();
  operator = { url: service.url, key: await service.createKey({ scopes: ['operator'] }) };
  await call(operator, 'POST', '/v1/operator/products/prod_us_1gb_7d/deactivate');
  iccid = await provisioned(service);
});
afterAll(() => service.stop());

/** Orders an eSIM and waits for it; no worker runs afterwards, so that nothing else writes. */
async function provisioned(target: { url: string; key: string }): Promise<string> {
  const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
  const { id } = (await call(target, 'POST', '/v1/esims', { body: { product_id: europe } })).json;
  const ended = await until(
    async () => (await call(target, 'GET', `/v1/executions/${id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  await worker.stop(0);
  return ended.iccid;
}

const bundles = () => `/v1/esims/${iccid}/bundles`;
const post = (path: string, body: object, target: { url: string; key: string } = service) =>
  call(target, 'POST', path, { body });

/** Everything but the id of the request. */
function refusalOf({ status, json, headers }: Reply) {
  const { request_id: _, ...error } = json.error;
  return { status, error, retryAfter: headers.get('retry-after') };
}

describe('a dry run', () => {
  test('tells what would be accepted, and writes no row to any table', async () => {
    const before = await countRows(service.db);
    const idempotencyKey = 'dry';
    const body = { product_id: europe, reference: 'DRY-1', metadata: { a: 'b' }, dry_run: true };
    const ordered = await call(service, 'POST', '/v1/esims', { body, idempotencyKey });
    const products = [{ product_id: europe, quantity: 1, price }];
    const order = { object: 'dry_run', total: 1, products, in_stock: null };
    expect([ordered.status, ordered.json]).toEqual([200, { ...order, type: 'esim.provision', iccid: null }]);
    expect(ordered.headers.get('location')).toBeNull();
    const topUp = await post(bundles(), { product_id: europe, dry_run: true });
    expect([topUp.status, topUp.json]).toEqual([200, { ...order, type: 'bundle.add', iccid }]);
    await post('/v1/esims', { product_id: 'prod_missing', dry_run: true });
    expect(await countRows(service.db)).toEqual(before);
  });

  test('stores nothing under its key, neither the answer nor a refusal: the order itself may use it', async () => {
    const requests = ['/v1/esims', bundles()].flatMap((path) =>
      [europe, 'prod_missing'].map((productId) => ({ path, productId })),
    );
    for (const { path, productId } of requests) {
      const idempotencyKey = `dry-then-real-${path}-${productId}`;
      const send = (body: object) => call(service, 'POST', path, { body, idempotencyKey });
      const dry = await send({ product_id: productId, dry_run: true });
      const real = await send({ product_id: productId });
      expect([dry.status, real.status]).toEqual(productId === europe ? [200, 202] : [404, 404]);
      expect(real.headers.get('idempotent-replayed')).toBeNull();
    }
    const malformed = { body: { product_id: europe, dry_run: true }, idempotencyKey: 'x'.repeat(256) };
    expect((await call(service, 'POST', '/v1/esims', malformed)).json.error.code).toBe(
      'idempotency_key_invalid',
    );
  });

  test('is ordinary if `dry_run` is false', async () => {
    expect((await post('/v1/esims', { product_id: europe, dry_run: false })).status).toBe(202);
  });

  test('is no way around the key of an operation without dry runs', async () => {
    const idempotencyKey = 'suspend';
    const suspend = (body: object) =>
      call(service, 'POST', '/v1/esims/8901/suspend', { body, idempotencyKey });
    expect((await suspend({})).status).toBe(404);
    expect((await suspend({ dry_run: true })).json.error.code).toBe('idempotency_key_reused');
  });

  test.each<[string, () => string, object]>([
    ['an unknown product', () => '/v1/esims', { product_id: 'prod_missing' }],
    ['an inactive product', () => '/v1/esims', { product_id: 'prod_us_1gb_7d' }],
    ['no product', () => '/v1/esims', {}],
    ['a wrong EID', () => '/v1/esims', { product_id: europe, eid: '8'.repeat(32) }],
    ['an unknown field', () => '/v1/esims', { product_id: europe, referense: 'x' }],
    ['an eSIM that does not exist', () => '/v1/esims/8901/bundles', { product_id: europe }],
    ['an unknown product to top up', bundles, { product_id: 'prod_missing' }],
    ['an inactive product to top up', bundles, { product_id: 'prod_us_1gb_7d' }],
    ['a product of another region', bundles, { product_id: 'prod_jp_3gb_15d' }],
    ['a wrong threshold', bundles, { product_id: europe, thresholds: [0] }],
  ])('is refused as the order is: %s', async (_, path, body) => {
    const dry = refusalOf(await post(path(), { ...body, dry_run: true }));
    const real = refusalOf(await post(path(), body));
    // The names that an operation takes are listed; they are the same, whichever was sent.
    expect(dry).toEqual(real);
    expect(dry.status).toBeGreaterThanOrEqual(400);
  });

  test('needs the scope of the order', async () => {
    const reader = { url: service.url, key: await service.createKey({ scopes: ['read'] }) };
    for (const path of ['/v1/esims', bundles()]) {
      const dry = refusalOf(await post(path, { product_id: europe, dry_run: true }, reader));
      expect(dry).toEqual(refusalOf(await post(path, { product_id: europe }, reader)));
      expect(dry.error.code).toBe('scope_missing');
    }
  });

  test('of a terminated eSIM is refused as its top-up is', async () => {
    const gone = await provisioned(service);
    const worker = service.startWorker(createMockNetwork({ delayMs: 0 }));
    await call(service, 'DELETE', `/v1/esims/${gone}`);
    await until(
      async () => (await call(service, 'GET', `/v1/esims/${gone}`)).json.status,
      (status) => status === 'terminated',
    );
    await worker.stop(0);
    const path = `/v1/esims/${gone}/bundles`;
    const dry = refusalOf(await post(path, { product_id: europe, dry_run: true }));
    expect(dry).toEqual(refusalOf(await post(path, { product_id: europe })));
    expect(dry.error.code).toBe('state_conflict');
  });

  test('is refused at the limit of open executions, and waits for no lock of the account', async () => {
    const account = { name: 'Limited', max_open_executions: 1 };
    const { id } = (await call(operator, 'POST', '/v1/operator/accounts', { body: account })).json;
    const scopes = { body: { scopes: ['read', 'write'] } };
    const { key } = (await call(operator, 'POST', `/v1/operator/accounts/${id}/api_keys`, scopes)).json;
    const limited = { url: service.url, key };
    const own = `/v1/esims/${await provisioned(limited)}/bundles`;
    const order = { product_id: europe };
    await service.db.transaction(async (tx) => {
      await tx.query({ name: 'test_lock_accounts', text: 'select 1 from accounts for update' }, []);
      for (const path of ['/v1/esims', own]) {
        const dry = post(path, { ...order, dry_run: true }, limited).then(({ status }) => status);
        expect(await Promise.race([dry, untilLockIsAwaited(service).then(() => 'waits')])).toBe(200);
      }
    });
    expect((await post('/v1/esims', order, limited)).status).toBe(202);
    for (const path of ['/v1/esims', own]) {
      const dry = refusalOf(await post(path, { ...order, dry_run: true }, limited));
      expect(dry).toEqual(refusalOf(await post(path, order, limited)));
      expect([dry.status, dry.error.code]).toEqual([429, 'execution_limit_reached']);
    }
    // The limit is found before the product, as for the order.
    const missing = { product_id: 'prod_missing' };
    const dry = refusalOf(await post('/v1/esims', { ...missing, dry_run: true }, limited));
    expect(dry).toEqual(refusalOf(await post('/v1/esims', missing, limited)));
  });

  test('tells whether the operator’s ICCIDs are enough, as running workers report them', async () => {
    const range = { first: '898830500000000000', size: 1 };
    const { db, newUuid } = service.service;
    const heartbeat = await startHeartbeat({
      ...{ db, newUuid, clock: createDatabaseClock(), role: 'worker', version: '1.2.3', beatMs: 3_600_000 },
      report: () => ({
        ...{
          cell: null,
          encryption_keys: [],
          iccid_ranges: [range],
          certificates: [],
          clock_skew_ms: 0,
          networks: [],
        },
        throughput: createThroughput().read(),
      }),
      onError: (error) => {
        throw error;
      },
    });
    const inStock = async () =>
      (await post('/v1/esims', { product_id: europe, dry_run: true })).json.in_stock;
    expect(await inStock()).toBe(true);
    const source = createIccidSource([range]);
    const [only] = await source.allot(db, 1);
    expect(await inStock()).toBe(false);
    // One that the network objected to is used before an order fails.
    await source.giveBack?.(db, only as string, 'suspect');
    expect(await inStock()).toBe(true);
    // It is accepted all the same: the ICCID is taken when it runs.
    expect((await post('/v1/esims', { product_id: europe })).status).toBe(202);
    await heartbeat.stop();
  });
});
