import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { call } from '../../server/test/support/client.ts';
import { ordersDescribed } from '../../server/test/support/orders-described.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import { ConnectionError, createSimplane, RateLimitError, ServerError, TimeoutError } from '../src/index.ts';
import { type Fault, type FaultyProxy, faults, startFaultyProxy } from './support/faulty-proxy.ts';

let service: TestService;
let proxy: FaultyProxy;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());
// One proxy per test: a late attempt of the previous test must not consume this test's plan.
beforeEach(async () => {
  proxy = await startFaultyProxy(service.url);
});
afterEach(() => proxy.stop());

const order = { product_id: 'prod_europe_5gb_30d' };

function client(options = {}) {
  return createSimplane({ apiKey: service.key, baseUrl: proxy.url, ...options });
}

describe('a call through a failing connection', () => {
  for (const fault of faults) {
    test(`(${fault}) is retried and runs once`, async () => {
      proxy.plan = [fault];
      // The test takes this long if no response comes. A real response on a busy machine must fit.
      const options = /hangs/.test(fault) ? { attemptTimeoutMs: 2_000 } : {};
      const execution = await client(options).esims.create({ ...order, description: `once, ${fault}` });
      expect(execution.status).toBe('queued');
      expect(proxy.requests).toBe(2);
      expect(await ordersDescribed(service, `once, ${fault}`)).toHaveLength(1);
    });
  }

  test('runs once for any faults in any order', async () => {
    let run = 0;
    // The slow faults are tested above.
    const quick = faults.filter((fault) => !/hangs|429/.test(fault));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom<Fault>(...quick), { maxLength: 3 }), async (plan) => {
        proxy.plan = [...plan];
        const description = `any ${++run}`;
        await client().esims.create({ ...order, description });
        expect(await ordersDescribed(service, description)).toHaveLength(1);
      }),
      { numRuns: 8 },
    );
  });

  test('fails with a ConnectionError after maxRetries if every connection is refused', async () => {
    const unreachable = createSimplane({ apiKey: service.key, baseUrl: 'http://127.0.0.1:1', maxRetries: 1 });
    const error = await unreachable.esims.create(order).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toMatch(
      /POST \/v1\/esims got no response \(.+\)\. Check that the base URL is correct/,
    );
  });

  test('carries the idempotency key in its error, so that the caller can repeat it', async () => {
    proxy.plan = ['lost: reset'];
    const description = 'repeated by the caller';
    const error = await client({ maxRetries: 0 })
      .esims.create({ ...order, description })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConnectionError);
    const { idempotencyKey } = error as ConnectionError;
    await client().esims.create({ ...order, description }, { idempotencyKey });
    expect(await ordersDescribed(service, description)).toHaveLength(1);

    proxy.plan = ['hangs before', '500 before'];
    const hung = client().esims.create(order, { idempotencyKey: 'mine', timeoutMs: 100 });
    await expect(hung).rejects.toMatchObject({ name: 'TimeoutError', idempotencyKey: 'mine' });
    const failed = client({ maxRetries: 0 }).esims.create(order, { idempotencyKey: 'mine too' });
    await expect(failed).rejects.toMatchObject({ name: 'ServerError', idempotencyKey: 'mine too' });
  });

  test('says whether it may have taken effect', async () => {
    const once = client({ maxRetries: 0 });
    const failWith = (
      plan: FaultyProxy['plan'],
      calling: () => Promise<unknown> = () => once.esims.create(order),
    ) => {
      proxy.plan = plan;
      return expect(calling()).rejects;
    };
    await failWith(['429 for an hour']).toMatchObject({ name: 'RateLimitError', mayHaveTakenEffect: false });
    await failWith(['lost: reset']).toMatchObject({ name: 'ConnectionError', mayHaveTakenEffect: true });
    await failWith(['lost: 502 page']).toMatchObject({ name: 'ServerError', mayHaveTakenEffect: true });
    const unknown = () => once.esims.create({ product_id: 'prod_unknown' });
    await failWith([], unknown).toMatchObject({ name: 'InvalidRequestError', mayHaveTakenEffect: false });
    await failWith(['500 before'], () => once.me()).not.toMatchObject({ mayHaveTakenEffect: true });
  });

  test('may have taken effect if an attempt was lost, even if the last one was refused', async () => {
    proxy.plan = ['lost: reset', '429 for an hour'];
    const description = 'lost, then refused';
    const error = await client()
      .esims.create({ ...order, description })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(RateLimitError);
    const { mayHaveTakenEffect, idempotencyKey } = error as RateLimitError;
    expect(mayHaveTakenEffect).toBe(true);
    await client().esims.create({ ...order, description }, { idempotencyKey });
    expect(await ordersDescribed(service, description)).toHaveLength(1);
  });

  test('respects timeoutMs, however long the retries would take', async () => {
    proxy.plan = Array(9).fill('hangs before');
    const error = await client({ attemptTimeoutMs: 50 })
      .esims.create(order, { timeoutMs: 300 })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TimeoutError);
  });

  test('does not end at once if a timeout is longer than a timer can be', async () => {
    const patient = client({ timeoutMs: Infinity, attemptTimeoutMs: Infinity, maxRetries: 0 });
    expect(await patient.me()).toHaveProperty('api_key');
    const { id } = await client().esims.create(order);
    const polled = new AbortController();
    const onProgress = () => polled.abort(new Error('polled'));
    const options = { waitMs: 30 * 86_400_000, maxRetries: 0, signal: polled.signal, onProgress };
    await expect(client().executions.wait(id, options)).rejects.toThrow('polled');
  });

  test('ends with the caller’s abort reason when the caller’s signal aborts', async () => {
    proxy.plan = ['hangs before'];
    const controller = new AbortController();
    const calling = client().me({ signal: controller.signal });
    await until(
      async () => proxy.requests,
      (count) => count === 1,
    );
    controller.abort(new Error('no longer interested'));
    await expect(calling).rejects.toThrow('no longer interested');
    await expect(client().me({ signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never');
  });

  test('fails with the last API error when no retry is left', async () => {
    proxy.plan = ['500 before', '500 before'];
    await expect(client().esims.create(order, { maxRetries: 1 })).rejects.toBeInstanceOf(ServerError);
    proxy.plan = ['429 with Retry-After'];
    await expect(client().esims.create(order, { maxRetries: 0 })).rejects.toBeInstanceOf(RateLimitError);
    proxy.plan = ['429 for an hour'];
    await expect(client().esims.create(order)).rejects.toBeInstanceOf(RateLimitError);
  });
});

test('twenty concurrent calls with one key through failing connections create one order', async () => {
  const description = 'one key';
  proxy.plan = Array.from({ length: 20 }, (_, index) => (index % 3 === 0 ? 'lost: reset' : null));
  const executions = await Promise.all(
    Array.from({ length: 20 }, () =>
      client().esims.create({ ...order, description }, { idempotencyKey: 'the-one', maxRetries: 8 }),
    ),
  );
  expect(new Set(executions.map(({ id }) => id)).size).toBe(1);
  expect(await ordersDescribed(service, description)).toHaveLength(1);
});

test('a write without a key gets a new one each time', async () => {
  const [one, other] = [await client().esims.create(order), await client().esims.create(order)];
  expect(one.id).not.toBe(other.id);
});

test('an invalid request fails without being sent', async () => {
  expect(() => createSimplane({ apiKey: '' })).toThrow('API key');
  expect(() => createSimplane({ apiKey: 'k', baseUrl: 'localhost:4000' })).toThrow('baseUrl');
  await expect(client().esims.create(order, { idempotencyKey: 'ключ' })).rejects.toThrow(TypeError);
  await expect(client().esims.get('..')).rejects.toThrow('iccid must be an id');
  expect((await call(service, 'GET', '/v1/executions?limit=1')).status).toBe(200);
});
