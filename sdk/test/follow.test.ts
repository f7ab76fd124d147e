import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { until } from '../../server/test/support/until.ts';
import {
  AuthenticationError,
  ConnectionError,
  CursorExpiredError,
  createSimplane,
  type FollowOptions,
  InvalidRequestError,
  PermissionError,
} from '../src/index.ts';
import {
  blockOf,
  eventOf,
  json,
  refusal,
  type ScriptedServer,
  startScriptedServer,
  streamOf,
} from './support/scripted-server.ts';

let server: ScriptedServer;
beforeEach(async () => {
  server = await startScriptedServer();
});
afterEach(() => server.stop());

const path = 'GET /v1/events/feed';

function follow(options: FollowOptions = { after: 'c0' }, settings = {}) {
  return createSimplane({ apiKey: 'x', baseUrl: server.url, ...settings }).events.follow(options);
}

/** The numbers of the first events. */
async function take(count: number, events: AsyncIterable<{ id: string }>): Promise<number[]> {
  const taken: number[] = [];
  for await (const { id } of events) {
    taken.push(Number(id.slice('evt_'.length)));
    if (taken.length === count) break;
  }
  return taken;
}

/** Waits until the server got this many. */
function requests(count: number): Promise<unknown> {
  return until(
    async () => server.requests.length,
    (seen) => seen >= count,
  );
}

/** Waits until the server has no open stream. */
function closed(): Promise<unknown> {
  return until(
    async () => server.open,
    (open) => open === 0,
  );
}

/** Between successive requests, in milliseconds. */
function gaps(): number[] {
  return server.requests.slice(1).map(({ atMs }, index) => atMs - (server.requests[index]?.atMs ?? 0));
}

function lines(): string[] {
  return server.requests.map(({ line }) => line);
}

describe('a stream that ends', () => {
  test('is opened again after the last complete event: each event comes once', async () => {
    server.script = [
      streamOf(blockOf(1) + blockOf(2) + blockOf(3).slice(0, -1), 'break'),
      streamOf(blockOf(3), 'end'),
      streamOf(`: comment\n\nid: c9\n\n`, 'break'),
      streamOf(blockOf(10)),
    ];
    const events = follow({ after: 'c0', type: ['esim.*', 'bundle.*'] });
    expect(await take(4, events)).toEqual([1, 2, 3, 10]);
    expect(lines()).toEqual(
      ['c0', 'c2', 'c3', 'c9'].map((cursor) => `${path}?after=${cursor}&type=esim.*,bundle.*`),
    );
  });

  test('cleanly, after an event, is opened again without a pause', async () => {
    server.script = Array.from({ length: 100 }, (_, index) => streamOf(blockOf(index + 1), 'end'));
    const startMs = performance.now();
    expect(await take(100, follow())).toHaveLength(100);
    expect(performance.now() - startMs, '99 of the shortest pauses').toBeLessThan(99 * 125);
  });

  test('at once without an event is opened again ever more slowly', async () => {
    server.script = [streamOf('id: c0\n\n', 'end')];
    const controller = new AbortController();
    const reading = take(1, follow({ after: 'c0', signal: controller.signal }));
    await requests(5);
    controller.abort();
    expect(await reading).toEqual([]);
    for (const [index, gap] of gaps().entries()) expect(gap).toBeGreaterThan(120 * 2 ** index);
  });

  test('silently is noticed, while comments keep it open', async () => {
    server.script = [
      streamOf(blockOf(1)),
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const timer = setInterval(() => response.write(':\n\n'), 100);
        response.on('close', () => clearInterval(timer));
        setTimeout(() => response.write(blockOf(2)), 3_000);
      },
    ];
    expect(await take(2, follow({ after: 'c0', idleTimeoutMs: 2_000 }))).toEqual([1, 2]);
    expect(lines()).toEqual([`${path}?after=c0`, `${path}?after=c1`]);
    expect(gaps()[0]).toBeGreaterThan(2_000);
  });
});

describe('a server that is not there', () => {
  test('is an error at first, after maxRetries', async () => {
    server.script = [refusal(503, { code: 'unavailable' })];
    await expect(take(1, follow({ after: 'c0' }, { maxRetries: 1 }))).rejects.toMatchObject({ status: 503 });
    expect(server.requests).toHaveLength(2);
    await expect(take(1, follow({}, { maxRetries: 0, baseUrl: 'http://127.0.0.1:1' }))).rejects.toThrow(
      ConnectionError,
    );
  });

  test('is awaited for as long as it takes once the stream was open', async () => {
    server.script = [
      streamOf(blockOf(1), 'break'),
      (_, request) => request.socket.resetAndDestroy(),
      refusal(502, {}),
      streamOf(blockOf(2)),
    ];
    expect(await take(2, follow({ after: 'c0' }, { maxRetries: 0 }))).toEqual([1, 2]);
  });

  test('gets the time that it asks for', async () => {
    server.script = [
      streamOf(blockOf(1), 'end'),
      refusal(429, { type: 'rate_limit_error', code: 'stream_limit_reached' }, { 'retry-after': '2' }),
      refusal(503, {}, { 'retry-after': '0' }),
      streamOf(blockOf(2)),
    ];
    expect(await take(2, follow())).toEqual([1, 2]);
    expect(gaps()[1]).toBeGreaterThan(1_990);
    expect(gaps()[2], 'backs off even so').toBeGreaterThan(240);
  });
});

describe('an error that does not heal', () => {
  const errors = [
    [400, 'invalid_request_error', 'cursor_invalid', InvalidRequestError],
    [401, 'authentication_error', 'api_key_expired', AuthenticationError],
    [403, 'permission_error', 'scope_missing', PermissionError],
    [410, 'invalid_request_error', 'cursor_expired', CursorExpiredError],
  ] as const;
  for (const [status, type, code, Class] of errors) {
    test(`(${status}) ends the loop, also after a lost connection`, async () => {
      const refused = refusal(status, { type, code, cursor: 'oldest' });
      for (const script of [[refused], [streamOf(blockOf(1), 'break'), refused]]) {
        server.script = script;
        const error = await take(2, follow()).catch((error: unknown) => error);
        expect(error).toBeInstanceOf(Class);
        expect(error).toMatchObject({ code, cursor: 'oldest' });
      }
      expect(server.requests).toHaveLength(3);
    });
  }

  test('is an answer without a stream: it names the alternative', async () => {
    server.script = [json({ object: 'event_feed' })];
    await expect(take(1, follow())).rejects.toThrow(
      "answered with application/json instead of a stream. Check the base URL. If a proxy in between cannot stream, use { transport: 'poll' }.",
    );
  });

  test('is an event without a cursor, or one that is not JSON', async () => {
    for (const text of ['data: {}\n\n', 'id: c1\ndata: <html>\n\n']) {
      server.script = [streamOf(text)];
      await expect(take(1, follow())).rejects.toThrow('not from the Simplane API');
    }
  });
});

describe('the place', () => {
  test('is a cursor before the first event: a lost connection does not ask for `now` again', async () => {
    server.script = [streamOf('id: c5\n\n', 'break'), refusal(503, {}), streamOf(blockOf(6))];
    expect(await take(1, follow({}))).toEqual([6]);
    expect(lines()).toEqual([`${path}?after=now`, `${path}?after=c5`, `${path}?after=c5`]);
  });

  test('is readable, belongs to the event in hand, and a second loop continues there', async () => {
    server.script = [
      streamOf(blockOf(1) + blockOf(2) + blockOf(3)),
      streamOf(`${blockOf(2)}id: c7\n\n${blockOf(8)}`),
    ];
    const events = follow({ after: 'start' });
    expect(events.cursor).toBeUndefined();
    expect(await take(1, events)).toEqual([1]);
    expect(events.cursor).toBe('c1');
    const seen: unknown[] = [];
    for await (const { id } of events) {
      seen.push([id, events.cursor]);
      if (id === 'evt_8') break;
    }
    expect(seen).toEqual([
      ['evt_2', 'c2'],
      ['evt_8', 'c8'],
    ]);
    expect(lines()).toEqual([`${path}?after=start`, `${path}?after=c1`]);
  });

  test('is given once, and followed by one loop', async () => {
    await expect(take(1, follow({ after: 'c1', since: 5 }))).rejects.toThrow('`after` or `since`, not both');
    server.script = [streamOf(blockOf(1))];
    const events = follow({ since: 5 });
    for await (const _ of events) {
      await expect(take(1, events)).rejects.toThrow('One loop already follows');
      break;
    }
    expect(lines()).toEqual([`${path}?since=5`]);
  });
});

describe('leaving the loop', () => {
  test('by break closes the connection', async () => {
    server.script = [streamOf(blockOf(1) + blockOf(2))];
    await take(1, follow());
    await closed();
  });

  test('by signal closes the connection and is no error, at any point', async () => {
    const waiting = new AbortController();
    server.script = [streamOf(blockOf(1))];
    const received = take(2, follow({ after: 'c0', signal: waiting.signal }));
    await requests(1);
    waiting.abort();
    expect((await received).length).toBeLessThan(2);
    await closed();

    const backingOff = new AbortController();
    server.script = [refusal(503, {}, { 'retry-after': '1000' })];
    const retrying = take(1, follow({ after: 'c0', signal: backingOff.signal }));
    await requests(2);
    backingOff.abort();
    expect(await retrying).toEqual([]);
    expect(await take(1, follow({ signal: AbortSignal.abort() }))).toEqual([]);
  });

  test('by signal returns no further event, so that the cursor stays at the last one', async () => {
    server.script = [streamOf(blockOf(1) + blockOf(2))];
    const controller = new AbortController();
    const events = follow({ after: 'c0', signal: controller.signal });
    for await (const { id } of events) {
      expect(id).toBe('evt_1');
      controller.abort();
    }
    expect(events.cursor).toBe('c1');
  });
});

test('a slow loop holds back the server instead of filling memory', async () => {
  let writtenBytes = 0;
  const block = `id: c1\ndata: "${'x'.repeat(100_000)}"\n\n`;
  server.script = [
    async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      while (writtenBytes < 300e6) {
        writtenBytes += block.length;
        if (!response.write(block)) await new Promise((resolve) => response.once('drain', resolve));
      }
    },
  ];
  for await (const _ of follow()) {
    // A reader that does not hold back takes the 300 MB in about half of this time.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    break;
  }
  expect(writtenBytes).toBeLessThan(50e6);
});

describe('with transport: poll', () => {
  const page = (numbers: number[], cursor: string) =>
    json({ data: numbers.map(eventOf), cursor, caught_up: true });

  test('pages are read in turn, with a wait, across failures', async () => {
    server.script = [page([], 'c3'), page([4, 5], 'c5'), refusal(503, {}), page([6], 'c6')];
    const events = follow({ type: 'esim.*', transport: 'poll' });
    const seen: unknown[] = [];
    for await (const { id } of events) {
      seen.push([id, events.cursor]);
      if (id === 'evt_6') break;
    }
    expect(seen).toEqual([
      ['evt_4', 'c3'],
      ['evt_5', 'c5'],
      ['evt_6', 'c6'],
    ]);
    expect(lines()).toEqual([
      `${path}?after=now&type=esim.*`,
      ...['c3', 'c5', 'c5'].map((cursor) => `${path}?after=${cursor}&type=esim.*&wait=20`),
    ]);
  });

  test('a second loop continues in the middle of a page', async () => {
    server.script = [page([1, 2, 3], 'c3'), page([4], 'c4')];
    const events = follow({ after: 'c0', transport: 'poll' });
    expect([await take(2, events), await take(2, events)]).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  test('a server that does not wait is asked ever more slowly', async () => {
    server.script = [page([], 'c1')];
    const controller = new AbortController();
    const reading = take(1, follow({ after: 'c0', transport: 'poll', signal: controller.signal }));
    await requests(5);
    controller.abort();
    expect(await reading).toEqual([]);
    for (const [index, gap] of gaps().slice(1).entries()) expect(gap).toBeGreaterThan(120 * 2 ** index);
  });
});

test('a loop that never ran has sent nothing', () => {
  expect(follow().cursor).toBe('c0');
  expect(server.requests).toEqual([]);
});
