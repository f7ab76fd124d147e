import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

// biome-ignore lint/suspicious/noExplicitAny: read as a client reads it
type Json = any;

let service: TestService;
let other: { url: string; key: string };
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  other = { url: service.url, key: (await service.createAccount('Other')).key };
});
afterAll(() => service.stop());

async function get(path: string, target: { url: string; key: string } = service): Promise<Json> {
  const { status, json } = await call(target, 'GET', path);
  expect(status).toBe(200);
  return json;
}

const query = (value: string) => encodeURIComponent(value);

async function ended({ id }: Json, target?: typeof other): Promise<Json> {
  return until(
    () => get(`/v1/executions/${id}`, target),
    ({ status }) => status === 'succeeded' || status === 'failed',
  );
}

async function post(
  path: string,
  body: object,
  target: { url: string; key: string } = service,
): Promise<Json> {
  const { status, json } = await call(target, 'POST', path, { body });
  expect([status, json.error]).toEqual([202, undefined]);
  return json;
}

async function order(body: object, target?: typeof other): Promise<Json> {
  return ended(await post('/v1/esims', { product_id: 'prod_europe_5gb_30d', ...body }, target), target);
}

describe('the reference of an order', () => {
  test('is on the execution, the eSIM, the first bundle and in the data of their events', async () => {
    const reference = 'TRV-1007';
    const accepted = await post('/v1/esims', { product_id: 'prod_europe_5gb_30d', reference });
    expect(accepted.reference).toBe(reference);
    const { iccid, ...execution } = await ended(accepted);
    expect(execution.reference).toBe(reference);
    expect(await get(`/v1/esims/${iccid}`)).toMatchObject({ reference });
    const simulate = `/v1/sandbox/esims/${iccid}/simulate`;
    for (const body of [
      { action: 'install' },
      { action: 'attach', country: 'FR' },
      { action: 'attach', country: 'ES' },
      { action: 'use_data', bytes: 4 * 1024 ** 3 },
    ]) {
      expect((await call(service, 'POST', simulate, { body })).status).toBe(200);
    }
    await ended(await post(`/v1/esims/${iccid}/suspend`, {}));
    const { data: bundles } = await get(`/v1/esims/${iccid}/bundles`);
    expect(bundles.map((bundle: Json) => bundle.reference)).toEqual([reference]);
    const { data: events } = await get(`/v1/events?iccid=${iccid}&limit=100`);
    expect(new Set(events.map(({ type }: Json) => type))).toEqual(
      new Set([
        'esim.provisioned',
        'esim.service_changed',
        'esim.installed',
        'esim.activated',
        'bundle.activated',
        'esim.country_changed',
        'bundle.usage_threshold',
        'esim.suspended',
      ]),
    );
    expect(new Set(events.map(({ data }: Json) => data.reference))).toEqual(new Set([reference]));
    expect((await get(`/v1/events?reference=${reference}&limit=100`)).data).toEqual(events);
  });

  test('of a top-up is its own, on its execution and bundle', async () => {
    const { iccid } = await order({ reference: 'first' });
    const path = `/v1/esims/${iccid}/bundles`;
    const topUp = await ended(await post(path, { product_id: 'prod_europe_5gb_30d', reference: 'second' }));
    expect(topUp).toMatchObject({ type: 'bundle.add', reference: 'second' });
    const { data } = await get(path);
    expect(data.map(({ reference }: Json) => reference)).toEqual(['second', 'first']);
    expect((await get(`/v1/esims/${iccid}`)).reference).toBe('first');
    expect((await get('/v1/executions?reference=second')).data).toEqual([topUp]);
  });

  test('is null if none was sent, and then not in events', async () => {
    const { iccid, reference } = await order({ reference: null });
    expect(reference).toBe(null);
    expect((await get(`/v1/esims/${iccid}`)).reference).toBe(null);
    const { data } = await get(`/v1/events?iccid=${iccid}`);
    expect(data.map((event: Json) => 'reference' in event.data)).toEqual([false]);
  });

  test('stays with an order that failed, and its event', async () => {
    const failed = await order({ product_id: 'prod_sandbox_declined', reference: 'REFUSED-1' });
    expect(failed).toMatchObject({ status: 'failed', reference: 'REFUSED-1' });
    const { data } = await get('/v1/events?reference=REFUSED-1');
    expect(data.map(({ type }: Json) => type)).toEqual(['esim.provisioning_failed']);
    expect((await get('/v1/executions?reference=REFUSED-1&status=failed')).data).toEqual([failed]);
    expect((await get('/v1/executions?reference=REFUSED-1&error_code=declined')).data).toEqual([failed]);
    expect((await get('/v1/executions?reference=REFUSED-1&error_code=out_of_stock')).data).toEqual([]);
    expect((await get('/v1/executions?reference=REFUSED-1&status=succeeded')).data).toEqual([]);
    expect((await get('/v1/executions?reference=REFUSED-1&type=bundle.add')).data).toEqual([]);
  });

  test('with any characters is found exactly, and only in the own account', async () => {
    const references = ['a"b', 'a\\b', 'a"c', 'Größe 🎒 7', '%_', 'a', "'", '\\"'];
    for (const reference of references) await order({ reference });
    await order({ reference: 'a' }, other);
    for (const reference of references) {
      for (const list of ['executions', 'esims', 'events']) {
        const { data } = await get(`/v1/${list}?reference=${query(reference)}`);
        const found = data.map((item: Json) => item.reference ?? item.data.reference);
        expect(found, `${list} ${reference}`).toEqual([reference]);
      }
    }
    expect((await get('/v1/esims?reference=none')).data).toEqual([]);
  });

  test('is a filter that pages, and joins other filters', async () => {
    const made: string[] = [];
    for (let n = 0; n < 3; n++)
      made.unshift((await order({ reference: 'page', metadata: { n: `${n}` } })).iccid);
    for (const list of ['executions', 'esims']) {
      const first = await get(`/v1/${list}?reference=page&limit=2`);
      const rest = await get(`/v1/${list}?reference=page&limit=2&starting_after=${first.next_cursor}`);
      expect([...first.data, ...rest.data].map(({ iccid }: Json) => iccid)).toEqual(made);
      expect(rest.has_more).toBe(false);
    }
    const { data } = await get('/v1/esims?reference=page&metadata[n]=1&status=provisioned');
    expect(data.map(({ iccid }: Json) => iccid)).toEqual([made[1]]);
    const about = `reference=page&iccid=${made[0]}`;
    expect((await get(`/v1/events?${about}`)).data).toHaveLength(1);
    expect((await get(`/v1/events?${about}&type=bundle.*`)).data).toEqual([]);
    const [execution] = (await get('/v1/executions?reference=page&limit=1')).data;
    expect((await get(`/v1/events?reference=page&execution_id=${execution.id}`)).data).toHaveLength(1);
    expect((await get(`/v1/events?reference=other&execution_id=${execution.id}`)).data).toEqual([]);
  });

  test('is found while the order waits', async () => {
    const waiting = await startService();
    try {
      const body = { product_id: 'prod_europe_5gb_30d', reference: 'W-1', metadata: { shop: 'W-2' } };
      const { json } = await call(waiting, 'POST', '/v1/esims', { body });
      expect((await get('/v1/executions?reference=W-1', waiting)).data.map(({ id }: Json) => id)).toEqual([
        json.id,
      ]);
      expect((await get('/v1/executions?reference=W-1&status=queued', waiting)).data).toHaveLength(1);
      expect((await get('/v1/executions?reference=W-1&type=bundle.add', waiting)).data).toEqual([]);
      for (const q of ['W-1', 'W-2']) {
        const { data } = await get(`/v1/search?q=${q}`, waiting);
        expect(data).toMatchObject([{ id: json.id, title: 'Execution: esim.provision, queued' }]);
      }
      const newer: string[] = [];
      for (let n = 0; n < 2; n++) newer.unshift((await post('/v1/esims', body, waiting)).id);
      await waiting.db.pool.query('update execution_queue set attempts = 1');
      for (const q of ['W-1', 'W-2', newer[0]]) {
        const { data } = await get(`/v1/search?q=${q}&limit=2`, waiting);
        const found = q === newer[0] ? newer.slice(0, 1) : newer;
        expect(data).toMatchObject(found.map((id) => ({ id, title: 'Execution: esim.provision, running' })));
      }
    } finally {
      await waiting.stop();
    }
  });

  test.each(['', 'x'.repeat(101), 'two\nlines', 7])('is refused if it is %j', async (reference) => {
    const body = { product_id: 'prod_europe_5gb_30d', reference };
    const { status, json } = await call(service, 'POST', '/v1/esims', { body });
    expect([status, json.error.param]).toEqual([400, 'reference']);
  });
});

describe('a search', () => {
  const find = async (q: string, target = other as typeof other | TestService, limit = '') =>
    (await get(`/v1/search?q=${query(q)}${limit}`, target)).data.map(({ type, id }: Json) => [type, id]);

  test('finds an order and its eSIM by reference, and by a value of the metadata', async () => {
    const { id, iccid } = await order({ reference: 'S-1', metadata: { shop: 'S-2', till: 'S-2' } });
    expect(await find('S-1', service)).toEqual([
      ['esim', iccid],
      ['execution', id],
    ]);
    expect(await find('S-2', service)).toEqual([['esim', iccid]]);
    expect(await find('S-1')).toEqual([]);
    expect(await find('S-2')).toEqual([]);
    await call(service, 'PATCH', `/v1/esims/${iccid}`, { body: { metadata: { shop: 'S-3', till: null } } });
    expect([await find('S-2', service), await find('S-3', service)]).toEqual([[], [['esim', iccid]]]);
  });

  test('finds an order that failed, with or without an eSIM, by a value of its metadata', async () => {
    const { iccid } = await order({ product_id: 'prod_sandbox_declined', metadata: { shop: 'F-1' } });
    expect(await find('F-1', service)).toEqual([['esim', iccid]]);
    const waiting = await startService();
    try {
      const body = { product_id: 'prod_europe_5gb_30d', metadata: { shop: 'F-2' } };
      const { id } = (await call(waiting, 'POST', '/v1/esims', { body })).json;
      const canceled = await call(waiting, 'POST', `/v1/executions/${id}/cancel`);
      expect(canceled.json).toMatchObject({ status: 'failed', iccid: null });
      expect(await find('F-2', waiting)).toEqual([['execution', id]]);
      expect((await get('/v1/esims?metadata[shop]=F-2', waiting)).data).toEqual([]);
      const { key } = await waiting.createAccount('Other');
      expect(await find('F-2', { url: waiting.url, key })).toEqual([]);
    } finally {
      await waiting.stop();
    }
  });

  test('returns as many as the limit says, newest first', async () => {
    const orders = [];
    const tags = { reference: 'many', metadata: { shop: 'several' } };
    for (let n = 0; n < 3; n++) orders.unshift(await order(tags));
    const esims = orders.map(({ iccid }) => ['esim', iccid]);
    for (const q of ['many', 'several']) {
      expect(await find(q, service, '&limit=2')).toEqual(esims.slice(0, 2));
    }
    expect(await find('many', service, '&limit=1000')).toEqual([
      ...esims,
      ...orders.map(({ id }) => ['execution', id]),
    ]);
    const { status, json } = await call(service, 'GET', '/v1/search?q=many&limit=0');
    expect([status, json.error.param]).toEqual([400, 'limit']);
  });
});

test('the list of a reference has no other eSIM that is being provisioned', async () => {
  const insert = async (iccid: string, reference: string) => {
    await service.db.query(
      {
        name: 'test_insert_provisioning',
        text: `
insert into execution_queue (account_id, id, type, product_id, iccid, input, attempts, fence, created_at, due_at)
values ($1, $2, 'esim.provision', 'prod_us_1gb_7d', $3, $4, 1, 1, now(), now() + interval '1 hour')`,
      },
      [service.accountUuid, service.service.newUuid().toString('hex'), iccid, { reference }],
    );
    return iccid;
  };
  const wanted = await insert('8999901000000003332', 'Q-1');
  await insert('8999901000000003340', 'Q-2');
  expect((await get('/v1/esims?reference=Q-1')).data).toMatchObject([{ iccid: wanted, reference: 'Q-1' }]);
});
