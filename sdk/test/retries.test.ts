import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { call } from '../../server/test/support/client.ts';
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
// A proxy of its own for each test: a late attempt of the test before must not use up this one's plan.
beforeEach(async () => {
  proxy = await startFaultyProxy(service.url);
});
afterEach(() => proxy.stop());

const order = { product_id: 'prod_europe_5gb_30d' };

function client(options = {}) {
  return createSimplane({ apiKey: service.key, baseUrl: proxy.url, ...options });
}

/** The executions of one order, counted by what it carries. */
async function executionsOf(description: string): Promise<string[]> {
  const rows = await service.db.query<{ id: string }>(
    { name: 'test_executions', text: `select id from executions where input->>'description' = $1` },
    [description],
  );
  return rows.map(({ id }) => id);
}

describe('a call through a connection that fails', () => {
  for (const fault of faults) {
    test(`(${fault}) is repeated, and carried out once`, async () => {
      proxy.plan = [fault];
      // Where the answer never comes, this is how long the test takes. An honest answer on a busy machine must fit in.
      const options = /hangs/.test(fault) ? { attemptTimeoutMs: 2_000 } : {};
      const execution = await client(options).esims.create({ ...order, description: `once, ${fault}` });
      expect(execution.status).toBe('queued');
      expect(proxy.requests).toBe(2);
      expect(await executionsOf(`once, ${fault}`)).toHaveLength(1);
    });
  }

  test('in any way and order is carried out once', async () => {
    let run = 0;
    // Without the slow ones: those have their tests above.
    const quick = faults.filter((fault) => !/hangs|429/.test(fault));
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom<Fault>(...quick), { maxLength: 3 }), async (plan) => {
        proxy.plan = [...plan];
        const description = `any ${++run}`;
        await client().esims.create({ ...order, description });
        expect(await executionsOf(description)).toHaveLength(1);
      }),
      { numRuns: 8 },
    );
  });

  test('that refuses every connection ends with an error that says so, after a bounded number of attempts', async () => {
    const nobody = createSimplane({ apiKey: service.key, baseUrl: 'http://127.0.0.1:1', maxRetries: 1 });
    const error = await nobody.esims.create(order).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(String(error)).toMatch(/POST \/v1\/esims got no answer \(.+\)\. Is the base URL right/);
  });

  test('keeps to its own time, whatever the retries would take', async () => {
    proxy.plan = Array(9).fill('hangs before');
    const error = await client({ attemptTimeoutMs: 50 })
      .esims.create(order, { timeoutMs: 300 })
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TimeoutError);
  });

  test('ends by the caller’s signal, with the caller’s reason', async () => {
    proxy.plan = ['hangs before'];
    const controller = new AbortController();
    const calling = client().me({ signal: controller.signal });
    await until(
      async () => proxy.requests,
      (count) => count === 1,
    );
    controller.abort(new Error('not interested any more'));
    await expect(calling).rejects.toThrow('not interested any more');
    await expect(client().me({ signal: AbortSignal.abort(new Error('never')) })).rejects.toThrow('never');
  });

  test('is not repeated when no attempt is left, and the last refusal is told', async () => {
    proxy.plan = ['500 before', '500 before'];
    await expect(client().esims.create(order, { maxRetries: 1 })).rejects.toBeInstanceOf(ServerError);
    proxy.plan = ['429 with Retry-After'];
    await expect(client().esims.create(order, { maxRetries: 0 })).rejects.toBeInstanceOf(RateLimitError);
    proxy.plan = ['429 for an hour'];
    await expect(client().esims.create(order)).rejects.toBeInstanceOf(RateLimitError);
  });
});

test('twenty calls with one key, at once and through failing connections, are one order', async () => {
  const description = 'one key';
  proxy.plan = Array.from({ length: 20 }, (_, index) => (index % 3 === 0 ? 'lost: reset' : null));
  const executions = await Promise.all(
    Array.from({ length: 20 }, () =>
      client().esims.create({ ...order, description }, { idempotencyKey: 'the-one', maxRetries: 8 }),
    ),
  );
  expect(new Set(executions.map(({ id }) => id)).size).toBe(1);
  expect(await executionsOf(description)).toHaveLength(1);
});

test('a write that is given no key gets another one each time', async () => {
  const [one, other] = [await client().esims.create(order), await client().esims.create(order)];
  expect(one.id).not.toBe(other.id);
});

test('what cannot be sent at all is told at once', async () => {
  expect(() => createSimplane({ apiKey: '' })).toThrow('API key');
  expect(() => createSimplane({ apiKey: 'k', baseUrl: 'localhost:4000' })).toThrow('baseUrl');
  await expect(client().esims.create(order, { idempotencyKey: 'ключ' })).rejects.toThrow(TypeError);
  await expect(client().esims.get('..')).rejects.toThrow('iccid must be an id');
  expect((await call(service, 'GET', '/v1/executions?limit=1')).status).toBe(200);
});
