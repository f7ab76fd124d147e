import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCatalog, readCatalog } from '../../src/accounts/products/import-catalog.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { expireBundles } from '../../src/orders/bundles/expire.ts';
import { endServices } from '../../src/orders/service/end-due.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const dayMs = 86_400_000;
let service: TestService;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  await addProduct('prod_throttled', { action: 'throttle', kbps: 128 });
  await addProduct('prod_open', { action: 'none' });
});
afterAll(() => service.stop());

async function addProduct(id: string, after_depletion?: object, countries = ['DE']) {
  const product = {
    ...{ id, name: id, countries, data_bytes: 1000, validity_days: 30, speeds: ['4G'] },
    ...{ price: { amount: 1, currency: 'eur' }, ...(after_depletion && { after_depletion }) },
  };
  const read = readCatalog(JSON.stringify([product]));
  if ('problems' in read) throw new Error(JSON.stringify(read.problems));
  await importCatalog(service.db, service.service, read.products);
}

async function order(product_id = 'prod_throttled'): Promise<string> {
  const { json } = await provision(service, undefined, { product_id });
  const { iccid } = await settled(json.id);
  return iccid;
}

function settled(id: string) {
  return until(
    async () => (await call(service, 'GET', `/v1/executions/${id}`)).json,
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

const serviceOf = async (iccid: string) => (await call(service, 'GET', `/v1/esims/${iccid}`)).json.service;
const simulate = (iccid: string, body: object) =>
  call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body });

async function toldOf(iccid: string): Promise<string[]> {
  const path = `/v1/events?type=esim.service_changed&iccid=${iccid}&limit=100`;
  const { data } = (await call(service, 'GET', path)).json;
  return data
    .map((event: { data: { state: string; reason: string } }) =>
      [event.data.state, event.data.reason].join(' '),
    )
    .reverse();
}

describe('the service of an eSIM', () => {
  test('is full when it is provisioned, and in a sandbox the mock has it at once', async () => {
    const iccid = await order();
    const { json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
    const { since, applied_at, ...rest } = await serviceOf(iccid);
    expect(rest).toEqual({
      ...{ state: 'full', reason: null, kbps: null, bundle_id: json.data[0].id, until: null },
      ...{ version: 1, applied_version: 1 },
    });
    expect(since).toBe(applied_at);
    expect(await toldOf(iccid)).toEqual([]);
  });

  test('follows attach, another country, depletion and expiry; the account hears of each state once', async () => {
    const iccid = await order();
    await simulate(iccid, { action: 'attach', country: 'DE' });
    const attached = await serviceOf(iccid);
    expect(attached).toMatchObject({ state: 'full', version: 2, applied_version: 2 });
    expect(attached.until).toBeGreaterThan(Date.now() / 1000 + 29 * 86_400);
    expect(await toldOf(iccid)).toEqual([]);

    await simulate(iccid, { action: 'use_data', bytes: 1, country: 'JP' });
    expect(await serviceOf(iccid)).toMatchObject({ state: 'barred', reason: 'not_covered', bundle_id: null });
    await simulate(iccid, { action: 'attach', country: 'DE' });
    const { json: used } = await simulate(iccid, { action: 'deplete_bundle' });
    expect(used.service).toMatchObject({ state: 'throttled', reason: 'depleted', kbps: 128, version: 5 });
    expect(used.service.until).toBe(attached.until);

    await endServices(service.db, service.service);
    expect((await serviceOf(iccid)).version).toBe(5);
    service.clock.advance(30 * dayMs + 1000);
    await endServices(service.db, service.service);
    expect(await serviceOf(iccid)).toMatchObject({ state: 'barred', reason: 'expired', version: 6 });
    expect(await toldOf(iccid)).toEqual([
      'barred not_covered',
      'full ',
      'throttled depleted',
      'barred expired',
    ]);
  });

  test('is barred when the active bundle expires with nobody calling, and full after a top-up', async () => {
    const iccid = await order('prod_open');
    await simulate(iccid, { action: 'attach', country: 'DE' });
    service.clock.advance(30 * dayMs + 1000);
    await expireBundles(service.db, service.service);
    expect(await serviceOf(iccid)).toMatchObject({ state: 'barred', reason: 'expired' });
    const body = { product_id: 'prod_open' };
    const { json } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body });
    await settled(json.id);
    expect(await serviceOf(iccid)).toMatchObject({ state: 'full', reason: null });
    await simulate(iccid, { action: 'deplete_bundle' });
    expect(await serviceOf(iccid)).toMatchObject({ state: 'full', reason: null });
    await simulate(iccid, { action: 'expire_bundle' });
    expect(await toldOf(iccid)).toEqual(['barred expired', 'full ']);
  });

  test('is told again in another country whose depleted bundle leaves another speed', async () => {
    const iccid = await order();
    await addProduct('prod_slower', { action: 'throttle', kbps: 64 }, ['FR']);
    const body = { product_id: 'prod_slower', any_region: true };
    await settled((await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body })).json.id);
    for (const country of ['DE', 'FR']) {
      await simulate(iccid, { action: 'attach', country });
      await simulate(iccid, { action: 'deplete_bundle' });
    }
    await simulate(iccid, { action: 'attach', country: 'DE' });
    const path = `/v1/events?type=esim.service_changed&iccid=${iccid}`;
    const { data } = (await call(service, 'GET', path)).json;
    expect(data.map((event: { data: { kbps: number | null } }) => event.data.kbps)).toEqual([
      ...[128, 64, null, 128],
    ]);
  });

  test('is of the bundle that was bought first, and of the next one when that is canceled', async () => {
    const iccid = await order();
    const body = { product_id: 'prod_throttled' };
    for (let n = 0; n < 2; n++)
      await settled((await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body })).json.id);
    const { json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
    const [first, second] = json.data.toReversed().map(({ id }: { id: string }) => id);
    expect((await serviceOf(iccid)).bundle_id).toBe(first);
    await call(service, 'DELETE', `/v1/esims/${iccid}/bundles/${first}`);
    expect(await serviceOf(iccid)).toMatchObject({ state: 'full', bundle_id: second });
    expect(await toldOf(iccid)).toEqual([]);
  });

  test('is barred while suspended and for ever after termination', async () => {
    const iccid = await order();
    for (const [change, state, reason] of [
      ['suspend', 'barred', 'suspended'],
      ['resume', 'full', null],
    ]) {
      await settled((await call(service, 'POST', `/v1/esims/${iccid}/${change}`)).json.id);
      expect(await serviceOf(iccid)).toMatchObject({ state, reason });
    }
    await settled((await call(service, 'DELETE', `/v1/esims/${iccid}`)).json.id);
    const ended = await serviceOf(iccid);
    expect(ended).toMatchObject({ state: 'barred', reason: 'terminated' });
    expect(ended.applied_version).toBe(ended.version);
    expect(await toldOf(iccid)).toEqual(['barred suspended', 'full ', 'barred terminated']);
  });

  test('is barred when its only bundle is canceled, and does not exist before it is provisioned', async () => {
    const iccid = await order();
    const { json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
    await call(service, 'DELETE', `/v1/esims/${iccid}/bundles/${json.data[0].id}`);
    expect(await serviceOf(iccid)).toMatchObject({ state: 'barred', reason: 'not_active' });
    await provision(service, undefined, { product_id: 'prod_sandbox_declined' });
    const failed = await until(
      async () => (await call(service, 'GET', '/v1/esims?status=failed')).json.data,
      (data) => data.length > 0,
    );
    expect(failed[0].service).toMatchObject({ state: 'barred', reason: 'not_active', version: 0 });
  });
});

describe('what happens after depletion', () => {
  test('is shown on the product, and on the bundle as it was sold', async () => {
    const iccid = await order();
    await addProduct('prod_throttled', { action: 'throttle', kbps: 64 });
    const { json: product } = await call(service, 'GET', '/v1/products/prod_throttled');
    expect(product.after_depletion).toEqual({ action: 'throttle', kbps: 64 });
    const { json } = await call(service, 'GET', `/v1/esims/${iccid}/bundles`);
    expect(json.data[0].after_depletion).toEqual({ action: 'throttle', kbps: 128 });
    await addProduct('prod_throttled', { action: 'throttle', kbps: 128 });
    const { json: other } = await call(service, 'GET', '/v1/products/prod_europe_5gb_30d');
    expect(other.after_depletion).toEqual({ action: 'bar', kbps: null });
  });

  test('needs a speed exactly for a throttle, in the catalog file and over HTTP', async () => {
    await expect(addProduct('prod_bad', { action: 'throttle' })).rejects.toThrow('needs kbps');
    await expect(addProduct('prod_bad', { action: 'bar', kbps: 1 })).rejects.toThrow('only \\"throttle\\"');
    const key = await service.createKey({ scopes: ['operator'] });
    const body = {
      ...{ name: 'x', countries: ['DE'], data_bytes: 1, validity_days: 1, speeds: ['4G'] },
      price: { amount: 1, currency: 'eur' },
      after_depletion: { action: 'none', kbps: 5 },
    };
    const refused = await call(service, 'PUT', '/v1/operator/products/prod_bad', { key, body });
    expect([refused.status, refused.json.error.param]).toEqual([400, 'after_depletion.kbps']);
    body.after_depletion = { action: 'throttle', kbps: 5 };
    const put = await call(service, 'PUT', '/v1/operator/products/prod_bad', { key, body });
    expect(put.json.after_depletion).toEqual({ action: 'throttle', kbps: 5 });
  });
});
