import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { endpoints } from '../src/generated.ts';
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  createSimplane,
  ExecutionFailedError,
  IdempotencyError,
  InvalidRequestError,
  PermissionError,
  type Simplane,
  TimeoutError,
  webhooks,
} from '../src/index.ts';

let service: TestService;
let simplane: Simplane;
beforeAll(async () => {
  service = await startService();
  service.startWorker(createMockNetwork({ delayMs: 0 }));
  service.startSender();
  simplane = createSimplane({ apiKey: service.key, baseUrl: `${service.url}/` });
});
afterAll(() => service.stop());

const order = { product_id: 'prod_europe_5gb_30d' };

test('request calls any operation by method and path, with the same idempotency and errors', async () => {
  const write = { method: 'POST', path: '/v1/esims', body: order };
  const first = await simplane.request(write, { idempotencyKey: 'raw' });
  expect(await simplane.request(write, { idempotencyKey: 'raw' })).toEqual(first);
  const page = { method: 'GET', path: '/v1/products', query: { limit: 1 } };
  expect(await simplane.request(page)).toMatchObject({ object: 'list', data: [{ object: 'product' }] });
  const missing = simplane.request({ method: 'GET', path: '/v1/products/none' });
  await expect(missing).rejects.toMatchObject({ code: 'resource_missing' });
  await expect(simplane.request({ method: 'GET', path: 'v1/me' })).rejects.toThrow('must begin with /');
});

test('every operation of the contract is called at its own URL', async () => {
  const called: string[] = [];
  const recorder = createSimplane({
    apiKey: 'sp_test_recorded',
    baseUrl: 'http://api.test',
    fetch: async (url, { method }) => {
      called.push(`${method} ${new URL(url).pathname}`);
      return new Response(
        '{"object":"list","data":[],"has_more":false,"id":"x","iccid":"x","status":"succeeded"}',
      );
    },
  });
  const { request: _, ...functions } = recorder;
  await callEverything(functions);
  const expected = Object.values(endpoints).map(
    ([method, path]) => `${method} ${path.replace(/\{\w+\}/g, 'x')}`,
  );
  expect(new Set(called)).toEqual(new Set(expected));
});

async function callEverything(part: object): Promise<void> {
  for (const value of Object.values(part)) {
    if (typeof value === 'object') await callEverything(value);
    else await (value.length === 1 && /^(create|report)$/.test(value.name) ? value({}) : value('x', {}));
  }
}

describe('provisionAndWait', () => {
  test('returns the eSIM and its install profile', async () => {
    const seen: string[] = [];
    const { execution, esim, install } = await simplane.esims.provisionAndWait(
      { ...order, metadata: { order: '7' } },
      { onProgress: ({ status }) => seen.push(status) },
    );
    expect(esim).toMatchObject({ iccid: execution.iccid, status: 'provisioned', metadata: { order: '7' } });
    expect(install.lpa).toMatch(/^LPA:1\$/);
    expect(seen.at(-1)).toBe('succeeded');
    expect((await simplane.esims.qr(esim.iccid, 'image/png')).subarray(1, 4)).toEqual(
      new TextEncoder().encode('PNG'),
    );
  });

  test('throws the reason if the order fails', async () => {
    const failing = simplane.esims.provisionAndWait({ product_id: 'prod_sandbox_out_of_stock' });
    const error = await failing.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ExecutionFailedError);
    expect((error as ExecutionFailedError).execution.error).toMatchObject({ code: 'out_of_stock' });
  });

  test('stops waiting on timeout or signal, while the order continues', async () => {
    const execution = await simplane.esims.create(order);
    await expect(
      simplane.executions.wait(execution.id, { signal: AbortSignal.abort(new Error('enough')) }),
    ).rejects.toThrow('enough');
    expect((await simplane.executions.wait(execution.id)).status).toBe('succeeded');
    const queued = { ...execution, status: 'queued' };
    const slow = createSimplane({
      apiKey: 'x',
      baseUrl: 'http://api.test',
      fetch: async () => new Response(JSON.stringify(queued)),
    });
    await expect(slow.executions.wait(execution.id, { waitMs: 1 })).rejects.toThrow(TimeoutError);
  });
});

describe('a list', () => {
  test('returns one page when awaited, and every item once when iterated', async () => {
    for (let n = 0; n < 7; n++) await simplane.events.sendTest({ type: 'sdk.listed', data: { n } });
    const page = await simplane.events.list({ type: 'sdk.listed', limit: 3 });
    expect([page.data.length, page.has_more]).toEqual([3, true]);
    const { data, response } = await simplane.events.list({ type: 'sdk.listed', limit: 3 }).withResponse();
    expect([data, response.status]).toEqual([page, 200]);
    const iterated: unknown[] = [];
    for await (const { data } of simplane.events.list({ type: 'sdk.listed', limit: 2 }))
      iterated.push(data['n']);
    expect(iterated).toEqual([6, 5, 4, 3, 2, 1, 0]);
    const rest: unknown[] = [];
    const after = { type: 'sdk.listed', starting_after: page.next_cursor as string };
    for await (const { data } of simplane.events.list(after)) rest.push(data['n']);
    expect(rest).toEqual([3, 2, 1, 0]);
  });

  test('requests no more pages than are iterated', async () => {
    let requests = 0;
    const counting = createSimplane({
      apiKey: service.key,
      baseUrl: service.url,
      fetch: (url, init) => {
        requests += 1;
        return fetch(url, init);
      },
    });
    const list = counting.products.list({ limit: 2 });
    expect(requests).toBe(0);
    for await (const _ of list) break;
    expect(requests).toBe(1);
  });
});

describe('an API error', () => {
  async function refused(calling: PromiseLike<unknown>): Promise<ApiError> {
    const error = await Promise.resolve(calling).then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).requestId).toMatch(/^req_/);
    return error as ApiError;
  }

  test('has the class of its type, the code, the parameter and the request id', async () => {
    const stranger = createSimplane({ apiKey: 'sp_test_nobody', baseUrl: service.url });
    const reader = createSimplane({
      apiKey: await service.createKey({ scopes: ['read'] }),
      baseUrl: service.url,
    });
    expect(await refused(stranger.me())).toBeInstanceOf(AuthenticationError);
    expect(await refused(reader.esims.create(order))).toBeInstanceOf(PermissionError);
    const missing = await refused(simplane.esims.create({ product_id: 'nope' }));
    expect(missing).toBeInstanceOf(InvalidRequestError);
    expect(missing).toMatchObject({ code: 'resource_missing', status: 404, param: 'product_id' });
    expect(missing.docUrl).toContain('resource_missing');
    expect(await refused(simplane.products.list({ limit: 0 }))).toMatchObject({ param: 'limit' });
    await simplane.esims.create(order, { idempotencyKey: 'mine' });
    const reused = simplane.esims.create({ product_id: 'prod_us_1gb_7d' }, { idempotencyKey: 'mine' });
    expect(await refused(reused)).toBeInstanceOf(IdempotencyError);
    const { esim } = await simplane.esims.provisionAndWait(order);
    expect(await refused(simplane.esims.resume(esim.iccid))).toBeInstanceOf(ConflictError);
  });

  test('from another server suggests to check the base URL', async () => {
    const elsewhere = (text: string, status: number) =>
      createSimplane({ apiKey: 'x', fetch: async () => new Response(text, { status }) });
    await expect(elsewhere('<h1>Hello</h1>', 200).me()).rejects.toThrow('Check the base URL.');
    await expect(elsewhere('<h1>No</h1>', 404).me()).rejects.toThrow('Check the base URL.');
  });
});

test('withResponse returns the data and the HTTP response', async () => {
  const { data, response } = await simplane.esims.create(order).withResponse();
  expect([response.status, response.headers.get('location')]).toEqual([202, `/v1/executions/${data.id}`]);
  expect(await response.json()).toEqual(data);
  await expect(simplane.esims.get('8999').withResponse()).rejects.toBeInstanceOf(ApiError);
});

test('a real delivery is verified, and its data is typed by event type', async () => {
  const receiver = await startReceiver();
  const { secret = '' } = await simplane.webhookEndpoints.create({
    url: receiver.url,
    enabled_event_types: ['esim.provisioned'],
  });
  const { esim, execution } = await simplane.esims.provisionAndWait(order);
  // Orders of earlier tests may finish only now and are delivered too.
  const got = await until(
    async () => receiver.received.find(({ body }) => body.includes(execution.id)),
    (delivery) => delivery !== undefined,
  );
  const event = await webhooks.verify(got?.body ?? '', got?.headers['service-signature'] as string, [
    'whsec_other',
    secret,
  ]);
  await receiver.stop();
  expect(event.type === 'esim.provisioned' && event.data).toEqual({
    iccid: esim.iccid,
    execution_id: execution.id,
    product_id: order.product_id,
  });
});

test('filters with several values and by metadata reach the server as it reads them', async () => {
  const { esim } = await simplane.esims.provisionAndWait({ ...order, metadata: { 'order id': 'A&1' } });
  const { metadata } = await simplane.esims.update(esim.iccid, { metadata: { team: 'red' } });
  expect(metadata).toEqual({ 'order id': 'A&1', team: 'red' });
  const found = await simplane.esims.list({ metadata: { 'order id': 'A&1', team: 'red' } });
  expect(found.data.map(({ iccid }) => iccid)).toEqual([esim.iccid]);
  expect((await simplane.esims.list({ metadata: { team: 'blue' } })).data).toEqual([]);
  const ofTypes = async (type: 'esim.provision' | ('esim.provision' | 'bundle.add')[]) =>
    (await simplane.executions.list({ type })).data.length;
  expect(await ofTypes(['esim.provision', 'bundle.add'])).toBeGreaterThan(0);
  expect(await ofTypes('esim.provision')).toBeGreaterThan(0);
  expect((await simplane.events.list({ type: ['bundle.*', 'esim.deleted'] })).data).toEqual([]);
});
