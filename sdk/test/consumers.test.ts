import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sequenceEvents } from '../../server/test/support/sequence-events.ts';
import { startService, type TestService } from '../../server/test/support/service.ts';
import { until } from '../../server/test/support/until.ts';
import {
  ConsumerInUseError,
  CursorExpiredError,
  createSimplane,
  type RunOptions,
  type Simplane,
} from '../src/index.ts';
import { startFaultyProxy } from './support/faulty-proxy.ts';
import {
  eventOf,
  json,
  refusal,
  type ScriptedServer,
  startScriptedServer,
} from './support/scripted-server.ts';

let service: TestService;
let simplane: Simplane;
let apiKey: string;
beforeAll(async () => {
  service = await startService();
  service.startSequencer();
});
afterAll(() => service.stop());
beforeEach(async () => {
  ({ key: apiKey } = await service.createAccount('Consumer'));
  simplane = createSimplane({ apiKey, baseUrl: service.url });
});

/** Publishes events and returns their ids in the order of the feed. */
async function publish(count: number, type = 'a.b'): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < count; i++) ids.push((await simplane.events.sendTest({ type, data: {} })).id);
  await sequenceEvents(service);
  return ids;
}

/** Runs until `count` events were handled. */
async function handle(count: number, options: RunOptions = {}, client = simplane): Promise<string[]> {
  const seen: string[] = [];
  const controller = new AbortController();
  const handler = ({ id }: { id: string }) => {
    if (seen.push(id) === count) controller.abort();
  };
  await client.consumers.run('billing', handler, { after: 'start', signal: controller.signal, ...options });
  return seen;
}

const behind = async () => (await simplane.consumers.get('billing')).behind;

describe('consumers.run', () => {
  test('handles every event once and in order, across runs, and leaves the consumer behind the last one', async () => {
    const ids = await publish(7);
    expect(await handle(3, { batchSize: 5 })).toEqual(ids.slice(0, 3));
    expect(await behind()).toBe(4);
    expect(await handle(4, { batchSize: 2 })).toEqual(ids.slice(3));
    expect(await behind()).toBe(0);
  });

  test('waits for new events, and awaits each handler before the next', async () => {
    const controller = new AbortController();
    let handling = 0;
    const seen: string[] = [];
    const run = simplane.consumers.run(
      'billing',
      async ({ id }) => {
        expect(++handling).toBe(1);
        await new Promise((resolve) => setTimeout(resolve, 20));
        handling -= 1;
        seen.push(id);
      },
      { after: 'start', signal: controller.signal },
    );
    const ids = [...(await publish(2)), ...(await publish(3))];
    await until(
      async () => seen,
      ({ length }) => length === 5,
    );
    expect(seen).toEqual(ids);
    await until(behind, (count) => count === 0);
    controller.abort();
    await run;
  });

  test('acknowledges only what is done: a failing handler ends the run, and the next one begins with its event', async () => {
    const ids = await publish(4);
    const failing = simplane.consumers.run(
      'billing',
      async ({ id }) => {
        if (id === ids[2]) throw new Error('no ink');
      },
      { after: 'start' },
    );
    await expect(failing).rejects.toThrow('no ink');
    expect(await behind()).toBe(2);
    expect(await handle(2)).toEqual(ids.slice(2));
  });

  test('ends with the error of its handler, also if it was aborted meanwhile', async () => {
    await publish(1);
    const controller = new AbortController();
    const failing = simplane.consumers.run(
      'billing',
      () => {
        controller.abort();
        throw new Error('no ink');
      },
      { after: 'start', signal: controller.signal },
    );
    await expect(failing).rejects.toThrow('no ink');
  });

  test('that is aborted before its first event handles and acknowledges nothing, and ends without an error', async () => {
    await publish(2);
    const controller = new AbortController();
    const paths: string[] = [];
    const client = createSimplane({
      apiKey,
      baseUrl: service.url,
      onResponse({ url }) {
        paths.push(new URL(url).pathname);
        if (url.includes('/v1/events/feed')) controller.abort();
      },
    });
    const seen: string[] = [];
    const handler = ({ id }: { id: string }) => void seen.push(id);
    await client.consumers.run('billing', handler, { after: 'start', signal: controller.signal });
    expect([seen, paths]).toEqual([[], ['/v1/event_consumers/billing', '/v1/events/feed']]);
  });

  test('acknowledges during a long batch', async () => {
    await publish(3);
    const seen: number[] = [];
    await simplane.consumers
      .run(
        'billing',
        async () => {
          seen.push(await behind());
          if (seen.length === 1) await new Promise((resolve) => setTimeout(resolve, 1_100));
          if (seen.length === 2) throw new Error('enough');
        },
        { after: 'start' },
      )
      .catch(() => {});
    expect(seen).toEqual([3, 2]);
  });

  test('does not mistake its own acknowledgment for another program’s if the response is lost', async () => {
    const ids = await publish(3);
    const proxy = await startFaultyProxy(service.url);
    try {
      const client = createSimplane({ apiKey, baseUrl: proxy.url, maxRetries: 0 });
      // Creates, reads, reads the place after the first event, acknowledges.
      proxy.plan = [null, null, null, 'lost: reset', 'lost: reset'];
      const controller = new AbortController();
      const seen: string[] = [];
      await client.consumers.run(
        'billing',
        async ({ id }) => {
          if (seen.push(id) === 1) await new Promise((resolve) => setTimeout(resolve, 1_100));
          if (seen.length === 3) controller.abort();
        },
        { after: 'start', signal: controller.signal },
      );
      expect(seen).toEqual(ids);
      expect(await behind()).toBe(0);
      expect(proxy.plan).toEqual([]);
    } finally {
      await proxy.stop();
    }
  });

  test('notices another program that uses the same name', async () => {
    const [first] = await publish(1);
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const handling: string[] = [];
    const slow = simplane.consumers.run(
      'billing',
      async ({ id }) => {
        handling.push(id);
        await released;
      },
      { after: 'start' },
    );
    await until(
      async () => handling,
      ([id]) => id === first,
    );
    await publish(1);
    expect(await handle(2)).toHaveLength(2);
    release();
    const error = await slow.catch((error: unknown) => error);
    expect(error).toBeInstanceOf(ConsumerInUseError);
    expect(error).toMatchObject({ cause: { code: 'cursor_behind' } });
    expect(String(error)).toContain('Another program uses the same name');
  });

  test('reads only the types of the consumer, and refuses other types than it was created with', async () => {
    await publish(2, 'a.b');
    const wanted = await publish(2, 'c.d');
    const type = ['c.*', 'x.y'];
    expect(await handle(2, { type })).toEqual(wanted);
    expect(await behind()).toBe(0);
    const other = simplane.consumers.run('billing', () => {}, { type: ['c.*'] });
    await expect(other).rejects.toThrow(
      'The consumer "billing" exists and reads c.*, x.y, not c.*. Use another name, or delete it first.',
    );
    expect((await simplane.consumers.list().toArray({ limit: 5 })).map(({ name }) => name)).toEqual([
      'billing',
    ]);
    expect(await simplane.consumers.delete('billing')).toMatchObject({ deleted: true });
  });

  test('ends at once if it is aborted while it waits', async () => {
    const controller = new AbortController();
    let requests = 0;
    const client = createSimplane({ apiKey, baseUrl: service.url, onRequest: () => ++requests });
    const run = client.consumers.run('billing', () => {}, { signal: controller.signal });
    await until(
      async () => requests,
      (count) => count === 2,
    );
    controller.abort();
    await run;
    await simplane.consumers.run('billing', () => {}, { signal: AbortSignal.abort() });
    const none = undefined as unknown as () => void;
    await expect(simplane.consumers.run('billing', none)).rejects.toThrow('A handler is required');
  });
});

describe('consumers.run and a server', () => {
  let server: ScriptedServer;
  beforeEach(async () => {
    server = await startScriptedServer();
    simplane = createSimplane({ apiKey: 'x', baseUrl: server.url, maxRetries: 0 });
  });
  afterEach(() => server.stop());

  const consumer = json({ name: 'billing', type: ['esim.*'], cursor: 'c0' });
  const page = (numbers: number[], cursor: string) =>
    json({ data: numbers.map(eventOf), cursor, caught_up: true });
  const read = 'GET /v1/events/feed?consumer=billing&limit=100&wait=20';

  test('that is down for a while: it goes on by itself, without handling an event twice', async () => {
    server.script = [
      consumer,
      page([], 'c0'),
      refusal(503, {}),
      page([1, 2], 'c2'),
      (_, request) => request.socket.destroy(),
      refusal(429, { type: 'rate_limit_error', code: 'rate_limited' }, { 'retry-after': '1' }),
      consumer,
      refusal(401, { type: 'authentication_error', code: 'api_key_expired' }),
    ];
    const seen: string[] = [];
    const run = simplane.consumers.run('billing', ({ id }) => seen.push(id));
    await expect(run).rejects.toMatchObject({ code: 'api_key_expired' });
    expect(seen).toEqual(['evt_1', 'evt_2']);
    const ack = 'POST /v1/event_consumers/billing/ack';
    expect(server.requests.map(({ line }) => line)).toEqual([
      'PUT /v1/event_consumers/billing',
      ...[read, read, read],
      ...[ack, ack, ack],
      read,
    ]);
    expect(server.requests[6]?.body).toBe('{"cursor":"c2"}');
  });

  test('that skipped events of other types: it acknowledges them, and nothing that it already has', async () => {
    server.script = [
      consumer,
      page([], 'c0'),
      page([], 'c7'),
      consumer,
      page([], 'c7'),
      refusal(410, { type: 'invalid_request_error', code: 'cursor_expired', cursor: 'oldest' }),
    ];
    const error = await simplane.consumers.run('billing', () => {}).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CursorExpiredError);
    expect(error).toMatchObject({ cursor: 'oldest' });
    expect(server.requests.map(({ body }) => body)).toEqual(['{}', '', '', '{"cursor":"c7"}', '', '']);
  });

  test('that has other events at its place by now, because someone else moved it: it acknowledges none of them', async () => {
    server.script = [consumer, page([1, 2], 'c2'), page([8], 'c8'), consumer];
    const run = simplane.consumers.run('billing', ({ id }) => {
      if (id === 'evt_2') throw new Error('no');
    });
    await expect(run).rejects.toThrow('no');
    expect(server.requests.map(({ line }) => line)).toEqual([
      'PUT /v1/event_consumers/billing',
      read,
      'GET /v1/events/feed?consumer=billing&limit=1',
    ]);
  });

  test('that is not there at the start: it fails', async () => {
    server.script = [refusal(503, {})];
    await expect(simplane.consumers.run('billing', () => {})).rejects.toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(1);
  });
});
