import { createOperator } from '@simplane/sdk';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { expireBundles } from '../../src/orders/bundles/expire.ts';
import { call, provision } from '../support/client.ts';
import { insertEsim } from '../support/insert-esim.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let service: TestService;
let operator: ReturnType<typeof createOperator>;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  const apiKey = await service.createKey({ scopes: ['operator'] });
  operator = createOperator({ apiKey, baseUrl: service.url });
});
afterAll(() => service.stop());

const get = async (path: string) => (await call(service, 'GET', path)).json;
const now = () => Math.floor(service.clock.nowMs() / 1000);
const gb = 1_000_000_000;

const ended = (id: string) =>
  until(
    () => get(`/v1/executions/${id}`),
    ({ status }) => status === 'succeeded' || status === 'failed',
  );

/** An eSIM that was ordered a month ago. */
async function order(product_id = 'prod_europe_5gb_30d'): Promise<string> {
  const { json } = await provision(service, undefined, { product_id });
  const { iccid } = await ended(json.id);
  await service.db.pool.query(
    `update esims set created_at = created_at - interval '30 days' where iccid = $1`,
    [iccid],
  );
  return iccid;
}

async function topUp(iccid: string, body: object): Promise<void> {
  const { json } = await call(service, 'POST', `/v1/esims/${iccid}/bundles`, { body });
  expect((await ended(json.id)).status).toBe('succeeded');
}

async function terminate(iccid: string): Promise<void> {
  const { json } = await call(service, 'DELETE', `/v1/esims/${iccid}`);
  expect((await ended(json.id)).status).toBe('succeeded');
}

let serial = 0;
type Usage = {
  record_id?: string;
  iccid?: string;
  bytes: number;
  at?: number;
  country?: string;
  corrects?: string;
};

/** Reports usage, each a second after the one before. */
async function report(iccid: string, ...usage: Usage[]) {
  const records = usage.map((one) => ({
    record_id: `r${++serial}`,
    at: now() - 3_600 + serial,
    iccid,
    ...one,
  }));
  const { status, json, text } = await call(service, 'POST', '/v1/usage_records', { body: { records } });
  expect(status, text).toBe(200);
  return json;
}

const simulate = (iccid: string, body: object) =>
  call(service, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body });

async function bundlesOf(iccid: string) {
  return (await get(`/v1/esims/${iccid}/bundles`)).data.toReversed();
}

async function usedOf(iccid: string): Promise<[number[], number]> {
  const bundles: { used_bytes: number }[] = await bundlesOf(iccid);
  const { uncovered_bytes } = await get(`/v1/esims/${iccid}`);
  return [bundles.map(({ used_bytes }) => used_bytes), uncovered_bytes];
}

async function eventsOf(iccid: string, type: string): Promise<{ data: Record<string, unknown> }[]> {
  return (await get(`/v1/events?iccid=${iccid}&type=${type}&limit=100`)).data.toReversed();
}

/** The records of an eSIM as they are stored. */
async function recordsOf(iccid: string) {
  const { rows } = await service.db.pool.query(
    'select record_id, bytes, country, corrected_by from usage_records where iccid = $1 order by record_id',
    [iccid],
  );
  return rows;
}

/** Always true at every commit. */
async function expectBalanced(iccid: string): Promise<void> {
  const { rows } = await service.db.pool.query(
    `select (select coalesce(sum(bytes), 0) from usage_records where iccid = $1)
       = (select coalesce(sum(used_bytes), 0) from bundles where iccid = $1) + uncovered_bytes + late_bytes as adds_up
     from esims where iccid = $1`,
    [iccid],
  );
  expect(rows).toEqual([{ adds_up: true }]);
}

describe('usage', () => {
  test('in a country counts only on bundles that cover it, and what none covers is told once a day', async () => {
    const iccid = await order();
    await report(
      iccid,
      { bytes: 3, country: 'US' },
      { bytes: 4, country: 'JP' },
      { bytes: 5, country: 'US' },
    );
    expect(await usedOf(iccid)).toEqual([[0], 12]);
    expect((await bundlesOf(iccid))[0].status).toBe('queued');
    const told = (await eventsOf(iccid, 'esim.usage_not_covered')).map(({ data }) => data['country']);
    expect(told.sort()).toEqual(['JP', 'US']);
    await topUp(iccid, { product_id: 'prod_us_1gb_7d', any_region: true });
    await report(iccid, { bytes: 6, country: 'DE' }, { bytes: 7, country: 'US' }, { bytes: 8 });
    expect(await get(`/v1/esims/${iccid}`)).toMatchObject({ country: 'US', uncovered_bytes: 12 });
    const bundles = await bundlesOf(iccid);
    expect(bundles).toMatchObject([
      { status: 'active', used_bytes: 6 },
      { status: 'active', used_bytes: 15, countries: ['US'] },
    ]);
    expect((await recordsOf(iccid)).map(({ country }) => country)).toEqual([
      'US',
      'JP',
      'US',
      'DE',
      'US',
      'US',
    ]);
    await expectBalanced(iccid);
  });

  test('that no bundle covers is told once a day, however many batches report it', async () => {
    const iccid = await order();
    await report(iccid, { bytes: 3, country: 'US' });
    await report(iccid, { bytes: 4, country: 'US' });
    expect((await eventsOf(iccid, 'esim.usage_not_covered')).map(({ data }) => data['country'])).toEqual([
      'US',
    ]);
    await report(iccid, { bytes: 2 });
    expect(await usedOf(iccid)).toEqual([[0], 9]);
  });

  test('moves an eSIM to another country only if it is newer than the last known to be in this one', async () => {
    const iccid = await order();
    const at = now() - 1_000;
    await report(iccid, { bytes: 1, at, country: 'DE' });
    await report(iccid, { bytes: 1, at: at + 20, country: 'DE' });
    await report(iccid, { bytes: 1, at: at + 10, country: 'FR' });
    expect((await get(`/v1/esims/${iccid}`)).country).toBe('DE');
  });

  test('counts by the countries at the time of sale, whatever the catalog says later', async () => {
    const product = { name: 'x', countries: ['DE'], data_bytes: 1000, validity_days: 5, speeds: ['4G'] };
    const price = { amount: 1, currency: 'eur' };
    const id = 'prod_changing';
    await operator.products.put(id, { ...product, price } as never);
    const iccid = await order(id);
    await operator.products.put(id, {
      ...product,
      countries: ['US'],
      price: { ...price, amount: 9 },
    } as never);
    await report(iccid, { bytes: 5, country: 'DE' }, { bytes: 6, country: 'US' });
    expect(await usedOf(iccid)).toEqual([[5], 6]);
    expect((await bundlesOf(iccid))[0]).toMatchObject({ countries: ['DE'], price });
    const { data } = await get(`/v1/executions?limit=1`);
    expect(data[0].price).toEqual(price);
  });

  test('fills a bundle with the price of its order, even if the catalog changed before an order or a top-up ran', async () => {
    const own = await startService();
    try {
      const { json } = await provision(own, undefined, { product_id: 'prod_us_1gb_7d' });
      const toppedUp = await insertEsim(own);
      const body = { product_id: 'prod_us_1gb_7d', any_region: true };
      await call(own, 'POST', `/v1/esims/${toppedUp}/bundles`, { body });
      await own.db.pool.query(`update products set price_amount = 999 where id = 'prod_us_1gb_7d'`);
      own.startWorker(createMockNetwork({ delayMs: 0 }));
      const price = { amount: 450, currency: 'eur' };
      const { iccid } = await until(
        async () => (await call(own, 'GET', `/v1/executions/${json.id}`)).json,
        (execution) => execution.status === 'succeeded' && execution.price.amount === price.amount,
      );
      for (const one of [iccid, toppedUp]) {
        const bundles = await until(
          async () => (await call(own, 'GET', `/v1/esims/${one}/bundles`)).json.data,
          ({ length }) => length > 0,
        );
        expect(bundles).toMatchObject([{ price }]);
      }
    } finally {
      await own.stop();
    }
  });

  test('on a bundle of the last release, which has no countries, counts by its product', async () => {
    const iccid = await order('prod_us_1gb_7d');
    await service.db.pool.query('update bundles set countries = null, price = null where iccid = $1', [
      iccid,
    ]);
    await report(iccid, { bytes: 5, country: 'DE' }, { bytes: 6, country: 'US' });
    expect(await usedOf(iccid)).toEqual([[6], 5]);
    expect((await bundlesOf(iccid))[0]).toMatchObject({ countries: ['US'], price: null });
  });

  test('before the order of its eSIM counts at the time of the order: no bundle ends before it is bought', async () => {
    const { json } = await provision(service);
    const { iccid, created } = await ended(json.id);
    await report(iccid, { bytes: 5, at: now() - 20 * 86_400, country: 'FR' });
    const [bundle] = await bundlesOf(iccid);
    expect(bundle).toMatchObject({ status: 'active', activated_at: created, as_of: created });
    const attached = (await ended((await provision(service)).json.id)).iccid;
    await simulate(attached, { action: 'attach', country: 'FR', at: 1 });
    expect((await bundlesOf(attached))[0].activated_at).toBeGreaterThanOrEqual(created);
  });

  test('before a termination that arrives after it is late: in the books, on no bundle, without an event', async () => {
    const iccid = await order();
    await report(iccid, { bytes: 5, country: 'FR' });
    service.clock.advance(60_000);
    const before = now() - 30;
    await terminate(iccid);
    const events = async () => (await get(`/v1/events?iccid=${iccid}&limit=100`)).data.length;
    const known = await events();
    service.clock.advance(60_000);
    expect(await report(iccid, { record_id: 'late', bytes: 7, at: before, country: 'US' })).toMatchObject({
      accepted: 1,
    });
    expect(await report(iccid, { record_id: 'late', bytes: 7, at: before })).toMatchObject({ duplicates: 1 });
    expect(await report(iccid, { bytes: 8, at: now() })).toMatchObject({
      rejections: [{ reason: 'esim_ended' }],
    });
    expect([await usedOf(iccid), await events()]).toEqual([[[5], 0], known]);
    expect((await get(`/v1/esims/${iccid}/usage`)).used_bytes).toBe(12);
    await expectBalanced(iccid);
  });

  test('in the second of a termination was before it, and in the next one after it', async () => {
    const iccid = await order();
    await terminate(iccid);
    const at = now() - 60;
    await service.db.pool.query('update esims set terminated_at = to_timestamp($2) where iccid = $1', [
      ...[iccid, at],
    ]);
    expect(await report(iccid, { bytes: 7, at }, { bytes: 8, at: at + 1 })).toMatchObject({
      accepted: 1,
      rejections: [{ index: 1, reason: 'esim_ended' }],
    });
  });

  test('of an eSIM terminated by the last release, whose time is unknown, is refused', async () => {
    const iccid = await order();
    await terminate(iccid);
    await service.db.pool.query('update esims set terminated_at = null where iccid = $1', [iccid]);
    expect(await report(iccid, { bytes: 7, at: now() - 60 })).toMatchObject({
      rejections: [{ reason: 'esim_ended' }],
    });
  });
});

describe('a correction', () => {
  test('replaces an earlier amount; its thresholds are neither taken back nor told again', async () => {
    const iccid = await order();
    await report(iccid, { record_id: 'a', bytes: 5 * gb, country: 'FR' });
    const other = await order();
    await report(other, { record_id: 'a', bytes: 7, country: 'FR' });
    const thresholds = async () => (await eventsOf(iccid, 'bundle.usage_threshold')).length;
    expect([await thresholds(), (await bundlesOf(iccid))[0].status]).toEqual([3, 'depleted']);
    expect(await report(iccid, { record_id: 'b', bytes: gb, corrects: 'a' })).toMatchObject({ accepted: 1 });
    expect(await usedOf(iccid)).toEqual([[gb], 0]);
    expect((await bundlesOf(iccid))[0].status).toBe('active');
    expect(await report(iccid, { record_id: 'b', bytes: gb, corrects: 'a' })).toMatchObject({
      duplicates: 1,
    });
    await report(iccid, { record_id: 'c', bytes: 4 * gb + 5 });
    expect([await usedOf(iccid), await thresholds()]).toEqual([[[5 * gb], 5], 3]);
    expect(await recordsOf(iccid)).toMatchObject([
      { record_id: 'a', bytes: 0, corrected_by: 'b' },
      { record_id: 'b', bytes: gb, corrected_by: null, country: 'FR' },
      { record_id: 'c' },
    ]);
    expect(await recordsOf(other)).toMatchObject([{ record_id: 'a', bytes: 7, corrected_by: null }]);
    await expectBalanced(iccid);
  });

  test('of a record that was spread over bundles takes every part back', async () => {
    const iccid = await order('prod_us_1gb_7d');
    await topUp(iccid, { product_id: 'prod_us_1gb_7d' });
    await report(iccid, { record_id: 'a', bytes: 3 * gb, country: 'US' });
    expect(await usedOf(iccid)).toEqual([[gb, gb], gb]);
    await report(iccid, { record_id: 'b', bytes: 10, corrects: 'a' });
    expect(await usedOf(iccid)).toEqual([[10, 0], 0]);
    await expectBalanced(iccid);
  });

  test('in the batch of its record counts alone, and one of a corrected or unknown record is refused', async () => {
    const iccid = await order();
    const wrong = { record_id: 'wrong', bytes: 700, country: 'FR' };
    const right = { record_id: 'right', bytes: 7, corrects: 'wrong' };
    expect(await report(iccid, right, wrong)).toMatchObject({ accepted: 2 });
    expect(await usedOf(iccid)).toEqual([[7], 0]);
    const reply = await report(
      iccid,
      { bytes: 1, corrects: 'wrong' },
      { bytes: 1, corrects: 'x' },
      { bytes: 2 },
    );
    expect([reply.accepted, reply.rejections.map(({ reason }: { reason: string }) => reason)]).toEqual([
      1,
      ['already_corrected', 'record_unknown'],
    ]);
    const other = await order();
    expect(await report(other, { bytes: 1, corrects: 'right' })).toMatchObject({ rejected: 1 });
    // Nor one that the same batch repeats for its own eSIM.
    const ofBoth = await report(other, { ...right, iccid }, { bytes: 1, corrects: 'right' });
    expect(ofBoth).toMatchObject({ duplicates: 1, rejected: 1 });
    await expectBalanced(iccid);
  });
});

describe('rejected records', () => {
  test('are kept for the operator, each once with its last reason, newest first', async () => {
    const iccid = '8999905000000000019';
    const first = { record_id: 'x1', bytes: 5, at: now() - 40 * 86_400 };
    const second = { record_id: 'x2', bytes: 6, country: 'FR', corrects: 'x1' };
    await report(iccid, first, second, first);
    await report(iccid, first);
    const { data } = await operator.rejectedUsage.list({ iccid });
    const account_id = (await get('/v1/me')).account.id;
    const common = { object: 'rejected_usage', account_id, iccid, reason: 'esim_unknown' };
    expect(data).toEqual([
      { ...common, ...second, at: expect.any(Number), created: expect.any(Number) },
      { ...common, ...first, country: null, corrects: null, created: expect.any(Number) },
    ]);
    const page = await operator.rejectedUsage.list({ iccid, limit: 1 });
    expect(page.has_more).toBe(true);
    const rest = await operator.rejectedUsage.list({ iccid, starting_after: page.next_cursor ?? '' });
    expect(rest.data).toEqual(data.slice(1));
    const all = await operator.rejectedUsage.list();
    expect(all.data).toEqual(expect.arrayContaining(data));
    const newest = await operator.rejectedUsage.list({ limit: 1 });
    const older = await operator.rejectedUsage.list({ limit: 1, starting_after: newest.next_cursor ?? '' });
    expect([...newest.data, ...older.data]).toEqual(all.data.slice(0, 2));
    await service.db.pool.query(`update rejected_usage set reason = 'too_old' where record_id = 'x1'`);
    await report(iccid, first);
    expect((await operator.rejectedUsage.list({ iccid })).data.map(({ reason }) => reason)).toEqual([
      'esim_unknown',
      'esim_unknown',
    ]);
    const { status } = await call(service, 'GET', '/v1/operator/rejected_usage');
    expect(status).toBe(403);
  });

  test('that are sent again with other values are kept as they were sent last', async () => {
    const iccid = '8999905000000000035';
    const first = { record_id: 'x3', bytes: 5, at: now() - 10, country: 'FR', corrects: 'x1' };
    const last = { record_id: 'x3', bytes: 6, at: now() - 20, country: 'DE', corrects: 'x2' };
    await report(iccid, first);
    await report(iccid, last);
    expect((await operator.rejectedUsage.list({ iccid })).data).toMatchObject([last]);
  });

  test('of a sandbox account are kept up to a hundred a request, and all in live', async () => {
    const live = await startService({ mode: 'live', databaseUrl: service.databaseUrl });
    try {
      for (const [on, kept] of [
        [service, 100],
        [live, 250],
      ] as const) {
        const records = Array.from({ length: 250 }, (_, index) => ({
          record_id: `${kept}-${index}`,
          iccid: '8999906000000000018',
          bytes: 1,
          at: now(),
        }));
        await call(on, 'POST', '/v1/usage_records', { body: { records } });
        const { rows } = await service.db.pool.query(
          'select count(*)::integer from rejected_usage where starts_with(record_id, $1)',
          [`${kept}-`],
        );
        expect(rows).toEqual([{ count: kept }]);
      }
    } finally {
      await live.stop();
    }
  });
});

describe('a queued bundle', () => {
  test('starts when the eSIM attaches where it covers, and not elsewhere', async () => {
    const iccid = await order();
    await simulate(iccid, { action: 'attach', country: 'JP' });
    expect((await bundlesOf(iccid))[0]).toMatchObject({ status: 'queued', activated_at: null });
    await simulate(iccid, { action: 'attach', country: 'FR' });
    expect((await bundlesOf(iccid))[0].status).toBe('active');
  });

  test('can be canceled, once, and takes no usage then; one that has started cannot', async () => {
    const iccid = await order();
    await topUp(iccid, { product_id: 'prod_europe_5gb_30d' });
    await report(iccid, { bytes: 5, country: 'FR' });
    const [active, queued] = await bundlesOf(iccid);
    const cancel = (id: string, key?: string) =>
      call(service, 'DELETE', `/v1/esims/${iccid}/bundles/${id}`, key === undefined ? {} : { key });
    const refused = await cancel(active.id);
    expect([refused.status, refused.json.error.code]).toEqual([409, 'state_conflict']);
    expect(refused.json.error.message).toMatch(/^The bundle is active\./);
    const stranger = await service.createAccount('Stranger');
    expect((await cancel(queued.id, stranger.key)).status).toBe(404);
    const other = (await bundlesOf(await order()))[0];
    expect((await cancel(other.id)).status).toBe(404);
    const { status, json } = await cancel(queued.id);
    expect([status, json]).toEqual([200, { ...queued, status: 'canceled' }]);
    expect((await cancel(queued.id)).json.error.code).toBe('state_conflict');
    const events = await eventsOf(iccid, 'bundle.canceled');
    expect(events.map(({ data }) => data)).toEqual([
      { iccid, bundle_id: queued.id, product_id: 'prod_europe_5gb_30d' },
    ]);
    await report(iccid, { bytes: 6 * gb });
    expect(await usedOf(iccid)).toEqual([[5 * gb, 0], gb + 5]);
  });
});

describe('several active bundles', () => {
  test('that expire together end with one event each, and the next one of the country starts', async () => {
    const iccid = await order();
    await topUp(iccid, { product_id: 'prod_us_10gb_30d', any_region: true });
    await topUp(iccid, { product_id: 'prod_europe_5gb_30d' });
    await report(iccid, { bytes: 1, country: 'US' }, { bytes: 1, country: 'FR' });
    service.clock.advance(30 * 86_400_000);
    await expireBundles(service.db, service.service);
    const statuses = (await bundlesOf(iccid)).map(({ status }: { status: string }) => status);
    expect(statuses).toEqual(['expired', 'expired', 'active']);
    expect(await eventsOf(iccid, 'bundle.expired')).toHaveLength(2);
  });
});

describe('a simulation', () => {
  test('uses data in another country, and depletes the bundle that covers it', async () => {
    const iccid = await order();
    expect((await simulate(iccid, { action: 'use_data', bytes: 5, country: 'JP' })).json).toMatchObject({
      country: 'JP',
      uncovered_bytes: 5,
    });
    const refused = await simulate(iccid, { action: 'deplete_bundle' });
    expect([refused.status, refused.json.error.code]).toEqual([409, 'state_conflict']);
    expect((await simulate(iccid, { action: 'deplete_bundle', country: 'FR' })).status).toBe(200);
    expect((await bundlesOf(iccid))[0]).toMatchObject({ status: 'depleted', used_bytes: 5 * gb });
    expect((await get(`/v1/esims/${iccid}`)).uncovered_bytes).toBe(5);
    const unlimited = await order('prod_th_unlimited_10d');
    expect((await simulate(unlimited, { action: 'deplete_bundle' })).status).toBe(409);
  });

  test('of usage in the second of an attach comes after it, and a depletion uses what is left', async () => {
    const iccid = await order();
    let nowMs = now() * 1_000;
    const slow = await startService({ databaseUrl: service.databaseUrl, clock: { nowMs: () => nowMs } });
    const act = async (body: object) => {
      nowMs += 100;
      const path = `/v1/sandbox/esims/${iccid}/simulate`;
      return (await call({ url: slow.url, key: service.key }, 'POST', path, { body })).json;
    };
    await act({ action: 'attach', country: 'FR' });
    const roamed = await act({ action: 'use_data', bytes: gb, country: 'JP' });
    expect(roamed).toMatchObject({ country: 'JP', uncovered_bytes: gb });
    await act({ action: 'use_data', bytes: 2 * gb, country: 'FR' });
    await act({ action: 'deplete_bundle', country: 'FR' });
    await slow.stop();
    expect(await usedOf(iccid)).toEqual([[5 * gb], gb]);
  });
});
