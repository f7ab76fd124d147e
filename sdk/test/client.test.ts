import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMockNetwork } from '../../server/src/network/mock/mock-network.ts';
import { startReceiver } from '../../server/test/support/receiver.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import {
  ApiError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
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

/** A client, and the URLs of its requests. */
function recording() {
  const urls: string[] = [];
  const client = createSimplane({
    apiKey: service.key,
    baseUrl: service.url,
    onRequest: ({ url }) => urls.push(url),
  });
  return { client, urls };
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
    const late = await slow.executions.wait(execution.id, { waitMs: 1 }).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(TimeoutError);
    expect(late).toMatchObject({ execution: queued });
  });

  test('carries the execution in every error after the order was accepted', async () => {
    const accepted = { id: 'exec_1', status: 'queued' };
    const done = { ...accepted, status: 'succeeded', iccid: '89' };
    const failingAt = (path: string, failure: () => Promise<Response>) =>
      createSimplane({
        apiKey: 'x',
        baseUrl: 'http://api.test',
        maxRetries: 0,
        fetch: async (url, { method }) => {
          if (new URL(url).pathname === path) return failure();
          return Response.json(method === 'POST' ? accepted : done);
        },
      });
    const lost = () => Promise.reject(new Error('reset'));
    const refused = async () => Response.json({ error: { code: 'scope_missing' } }, { status: 403 });
    for (const [path, failure, execution] of [
      ['/v1/executions/exec_1', lost, accepted],
      ['/v1/executions/exec_1', refused, accepted],
      ['/v1/esims/89/install', refused, done],
      ['/v1/esims/89', lost, done],
    ] as const) {
      const seen: string[] = [];
      const onProgress = ({ status }: { status: string }) => void seen.push(status);
      const error = await failingAt(path, failure)
        .esims.provisionAndWait(order, { onProgress })
        .catch((error: unknown) => error);
      expect(error).toBeInstanceOf(failure === lost ? ConnectionError : ApiError);
      expect(error).toMatchObject({ execution });
      expect(seen[0]).toBe('queued');
    }
    const before = await failingAt('/v1/esims', lost)
      .esims.provisionAndWait(order)
      .catch((error: unknown) => error);
    expect((before as ConnectionError).execution).toBeUndefined();
    expect((before as ConnectionError).idempotencyKey).toMatch(/^[0-9a-f-]{36}$/);
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
      iterated.push((data as { n?: unknown }).n);
    expect(iterated).toEqual([6, 5, 4, 3, 2, 1, 0]);
    const rest: unknown[] = [];
    const after = { type: 'sdk.listed', starting_after: page.next_cursor as string };
    for await (const { data } of simplane.events.list(after)) rest.push((data as { n?: unknown }).n);
    expect(rest).toEqual([3, 2, 1, 0]);
  });

  test('requests no more pages than are iterated', async () => {
    const { client, urls } = recording();
    const list = client.products.list({ limit: 2 });
    expect(urls).toHaveLength(0);
    for await (const _ of list) break;
    expect(urls).toHaveLength(1);
  });

  test('that is awaited twice is requested once', async () => {
    const { client, urls } = recording();
    const list = client.products.list({ limit: 2 });
    const [first, count] = await Promise.all([list, list.then(({ data }) => data.length)]);
    expect([first.data.length, count, urls.length]).toEqual([2, 2, 1]);
  });

  test('is a promise of its first page, with catch and finally', async () => {
    const list: Promise<{ data: unknown[] }> = simplane.products.list({ limit: 2 });
    expect(list).toBeInstanceOf(Promise);
    expect(await Promise.all([list, list.then(({ data }) => data.length)])).toMatchObject([{}, 2]);
    let finished = 0;
    const page = await list.finally(() => {
      finished += 1;
    });
    expect([page.data.length, finished]).toEqual([2, 1]);
    const refused = simplane.products.list({ limit: 0 });
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(InvalidRequestError);
    await expect(refused.finally(() => undefined)).rejects.toBeInstanceOf(InvalidRequestError);
  });

  test('toArray returns up to `limit` items, with pages no larger than needed', async () => {
    const { client, urls } = recording();
    expect(await client.products.list().toArray({ limit: 3 })).toEqual(
      (await simplane.products.list({ limit: 3 })).data,
    );
    expect(await client.products.list({ limit: 2 }).toArray({ limit: 3 })).toHaveLength(3);
    expect(urls.map((url) => new URL(url).searchParams.get('limit'))).toEqual(['3', '2', '2']);
    const all = await client.products.list().toArray({ limit: 1_000 });
    expect(all.length).toBeGreaterThan(3);
    for (const limit of [0, -1, 1.5, Number.NaN, undefined as unknown as number]) {
      await expect(client.products.list().toArray({ limit })).rejects.toThrow('toArray needs { limit }');
    }
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
    const image = elsewhere('<h1>Hello</h1>', 200).esims.qr('8999', 'image/png');
    await expect(image).rejects.toThrow('Check the base URL.');
  });

  test('whose body a proxy has replaced has the request id of its header', async () => {
    const headers = { 'Request-Id': 'req_of_the_header' };
    const fetch = async () => new Response('<h1>Forbidden</h1>', { status: 403, headers });
    expect(await refused(createSimplane({ apiKey: 'x', fetch }).me())).toMatchObject({
      ...{ name: 'ApiError', status: 403 },
      requestId: 'req_of_the_header',
    });
  });

  test('instead of the result of a write carries its idempotency key: the write may have run', async () => {
    const keys: (string | null)[] = [];
    const truncated = createSimplane({
      apiKey: 'x',
      fetch: async (_, { headers }) => {
        keys.push(new Headers(headers).get('idempotency-key'));
        return new Response('{"id": "exec_', { status: 202 });
      },
    });
    const errors = [
      await truncated.esims.create(order).catch((error: unknown) => error),
      await truncated.request({ method: 'POST', path: '/v1/esims' }).catch((error: unknown) => error),
    ];
    expect(errors).toMatchObject(
      keys.map((idempotencyKey) => ({ name: 'ApiError', idempotencyKey, mayHaveTakenEffect: true })),
    );
    expect(keys).toEqual([expect.any(String), expect.any(String)]);
  });
});

test('withResponse returns the data and the HTTP response', async () => {
  const { data, response } = await simplane.esims.create(order).withResponse();
  expect([response.status, response.headers.get('location')]).toEqual([202, `/v1/executions/${data.id}`]);
  expect(await response.json()).toEqual(data);
  await expect(simplane.esims.get('8999').withResponse()).rejects.toBeInstanceOf(ApiError);
});

test('events from the log are typed by event type', async () => {
  const { execution } = await simplane.esims.provisionAndWait(order);
  for await (const event of simplane.events.list({ type: 'esim.provisioned' })) {
    // Compiles only if `type` narrows `data`.
    if (event.type !== 'esim.provisioned' || event.data.execution_id !== execution.id) continue;
    const same = await simplane.events.get(event.id);
    expect(same.type === 'esim.provisioned' && same.data.iccid).toBe(execution.iccid);
    return;
  }
  expect.unreachable('the event is in the log');
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
  const header = got?.headers['service-signature'];
  const event = await webhooks.verify(got?.body ?? '', header, ['whsec_other', secret]);
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
