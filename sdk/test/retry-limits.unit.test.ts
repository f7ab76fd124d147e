import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, createSimplane, ServerError, type SimplaneOptions, TimeoutError } from '../src/index.ts';
import { healingDelay, keepTrying } from '../src/keep-trying.ts';
import { delayBefore, retryAfterMs } from '../src/retry.ts';

const order = { product_id: 'prod_europe_5gb_30d' };

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A client whose requests get these responses in turn; the last one repeats. */
function clientWith(
  responses: ((signal: AbortSignal) => Response | Promise<Response>)[],
  options: Partial<SimplaneOptions> = {},
) {
  const seen = { requests: 0 };
  const fetch = async (_: string, { signal }: RequestInit) => {
    const respond = responses[Math.min(seen.requests, responses.length - 1)];
    seen.requests += 1;
    return respond?.(signal as AbortSignal) as Response;
  };
  return { seen, simplane: createSimplane({ apiKey: 'x', baseUrl: 'http://api.test', fetch, ...options }) };
}

const answer = (status: number, body: object = {}, headers: Record<string, string> = {}) => {
  return () => Response.json(body, { status, headers });
};

/** What the call ends with in this time, a result or an error; undefined if it does not end. */
async function outcomeWithin(ms: number, call: Promise<unknown>): Promise<unknown> {
  let outcome: unknown;
  const keep = (end: unknown) => {
    outcome = end;
  };
  call.then(keep, keep);
  await vi.advanceTimersByTimeAsync(ms);
  return outcome;
}

test('a Retry-After of up to a minute is waited for; a longer one is left to the caller at once', async () => {
  const timeoutMs = 300_000;
  const short = clientWith([answer(429, {}, { 'retry-after': '60' }), answer(200)], { timeoutMs });
  expect(await outcomeWithin(60_000, short.simplane.me())).toEqual({});
  const long = clientWith([answer(429, {}, { 'retry-after': '61' }), answer(200)], { timeoutMs });
  expect(await outcomeWithin(0, long.simplane.me())).toMatchObject({ status: 429 });
  expect([short.seen.requests, long.seen.requests]).toEqual([2, 1]);
});

test('a call without time for another attempt ends with the error of the API, at once', async () => {
  const { simplane, seen } = clientWith([answer(503, {}, { 'retry-after': '20' })]);
  const calling = simplane.esims.create(order, { timeoutMs: 10_000 });
  expect(await outcomeWithin(0, calling)).toMatchObject({ status: 503 });
  expect(seen.requests).toBe(1);
});

test('a refusal that no retry heals is sent once', async () => {
  for (const status of [400, 401, 403, 404, 409, 422]) {
    const { simplane, seen } = clientWith([answer(status)]);
    expect(await outcomeWithin(0, simplane.esims.create(order))).toMatchObject({ status });
    expect(seen.requests).toBe(1);
  }
});

test('an attempt that hangs ends with its call: at the timeout, or when the caller aborts', async () => {
  const hang = (signal: AbortSignal) =>
    new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const { simplane } = clientWith([hang], { attemptTimeoutMs: 600_000 });
  const late = simplane.esims.create(order, { timeoutMs: 5_000 });
  expect(await outcomeWithin(5_000, late)).toBeInstanceOf(TimeoutError);
  const stop = new AbortController();
  const aborted = simplane.esims.create(order, { signal: stop.signal });
  expect(await outcomeWithin(1_000, aborted)).toBeUndefined();
  stop.abort('enough');
  expect(await outcomeWithin(0, aborted)).toBe('enough');
});

test('an id is one part of the path, whatever it contains', async () => {
  const urls: string[] = [];
  const { simplane } = clientWith([answer(200)], { onRequest: ({ url }) => urls.push(url) });
  await simplane.esims.get('a/../b?c=%2F#d');
  expect(urls).toEqual(['http://api.test/v1/esims/a%2F..%2Fb%3Fc%3D%252F%23d']);
});

test.each([408, 429, 500, 503])('a request that was answered with %i is sent again', async (status) => {
  const { simplane, seen } = clientWith([answer(status), answer(200)]);
  expect(await outcomeWithin(1_000, simplane.me())).toEqual({});
  expect(seen.requests).toBe(2);
});

test('a write may have taken effect if a proxy gave it up or its first request is still in progress', async () => {
  for (const [status, code, mayHaveTakenEffect] of [
    [408, undefined, true],
    [409, 'idempotency_in_progress', true],
    [409, 'state_conflict', false],
    [500, undefined, true],
  ] as const) {
    const { simplane } = clientWith([answer(status, { error: { code } })], { maxRetries: 0 });
    const error = await outcomeWithin(0, simplane.esims.create(order));
    expect(error, `${status} ${code}`).toMatchObject({ status, mayHaveTakenEffect });
  }
});

test('the last poll of a wait gets a second, so that it can succeed', async () => {
  const late = (signal: AbortSignal) =>
    new Promise<Response>((resolve, reject) => {
      setTimeout(() => resolve(Response.json({ id: 'exec_1', status: 'succeeded' })), 500);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const { simplane } = clientWith([late]);
  const waiting = simplane.executions.wait('exec_1', { waitMs: 100, maxRetries: 0 });
  expect(await outcomeWithin(500, waiting)).toMatchObject({ status: 'succeeded' });
});

test('waiting for a batch ends with its time, while its orders go on', async () => {
  const { simplane, seen } = clientWith([answer(200, { id: 'bat_1', open: 2 })]);
  const waiting = simplane.batches.wait('bat_1', { waitMs: 10_000 });
  expect(await outcomeWithin(9_000, waiting)).toBeUndefined();
  expect(await outcomeWithin(1_500, waiting)).toBeInstanceOf(TimeoutError);
  expect(seen.requests).toBeLessThan(20);
});

test('a list ends with the page that says so, whatever its cursor', async () => {
  const page = (id: string, has_more: boolean) => answer(200, { data: [{ id }], has_more, next_cursor: id });
  const { simplane, seen } = clientWith([page('evt_2', true), page('evt_1', false)]);
  const events = simplane.events.list().toArray({ limit: 10 });
  expect(await outcomeWithin(0, events)).toMatchObject([{ id: 'evt_2' }, { id: 'evt_1' }]);
  expect(seen.requests).toBe(2);
});

test('a reader waits for at most an hour: no timer waits for more than 25 days', () => {
  const error = (seconds: number) =>
    new ApiError({ status: 503, headers: new Headers({ 'retry-after': `${seconds}` }), body: undefined });
  expect(healingDelay(error(3_000), 1)).toBe(3_000_000);
  expect(healingDelay(error(9_999_999), 1)).toBe(3_600_000);
});

test('a stream that is redirected names the cause, and its place survives a bookmark without an id', async () => {
  const redirect = () => new Response(null, { status: 302, headers: { location: 'http://other.test/x' } });
  const redirected = clientWith([redirect]).simplane.events.follow({ after: 'c0' });
  const first = redirected[Symbol.asyncIterator]().next();
  expect(String(await outcomeWithin(0, first))).toContain('was redirected to http://other.test');
  const text = 'id: c1\n\nid:\n\n';
  const stream = () => new Response(text, { headers: { 'content-type': 'text/event-stream' } });
  const events = clientWith([stream]).simplane.events.follow({ after: 'c0' });
  await outcomeWithin(0, events[Symbol.asyncIterator]().next());
  expect(events.cursor).toBe('c1');
});

test('a call leaves no timer behind, which would keep its process alive, however it ends', async () => {
  const { simplane } = clientWith([answer(503), answer(200)]);
  expect(await outcomeWithin(1_000, simplane.me())).toEqual({});
  expect(vi.getTimerCount()).toBe(0);
  const stop = new AbortController();
  const pausing = clientWith([answer(503, {}, { 'retry-after': '50' })]).simplane;
  const calling = pausing.me({ signal: stop.signal });
  expect(await outcomeWithin(1_000, calling)).toBeUndefined();
  stop.abort('enough');
  expect(await outcomeWithin(0, calling)).toBe('enough');
  expect(vi.getTimerCount()).toBe(0);
});

test('calls and waits with the signal of a long-lived process leave no listener on it', async () => {
  const { signal } = new AbortController();
  const states = ['queued', 'queued', 'succeeded'].map((status) => answer(200, { id: 'exec_1', status }));
  const { simplane } = clientWith([answer(503), ...states]);
  const waiting = simplane.executions.wait('exec_1', { signal });
  expect(await outcomeWithin(5_000, waiting)).toMatchObject({ status: 'succeeded' });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a stream that was opened again and again leaves neither timers nor listeners', async () => {
  const { signal } = new AbortController();
  const { simplane } = clientWith([1, 2, 3].map((n) => () => streamOf(n)));
  const reading = (async () => {
    const ids: string[] = [];
    for await (const { id } of simplane.events.follow({ after: 'c0', signal })) {
      if (ids.push(id) === 3) break;
    }
    return ids;
  })();
  expect(await outcomeWithin(1_000, reading)).toEqual(['evt_1', 'evt_2', 'evt_3']);
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

/** A stream that ends after one event. */
function streamOf(n: number): Response {
  const data = JSON.stringify({ id: `evt_${n}`, type: 'esim.provisioned', data: {} });
  return new Response(`id: c${n}\ndata: ${data}\n\n`, { headers: { 'content-type': 'text/event-stream' } });
}

test('a request that asks the server to wait gets that time on top of every timeout, but no more than a minute', async () => {
  const after = (ms: number) => (signal: AbortSignal) =>
    new Promise<Response>((resolve, reject) => {
      setTimeout(() => resolve(Response.json({ data: [] })), ms);
      signal.addEventListener('abort', () => reject(signal.reason));
    });
  const patient = clientWith([after(29_000)], { timeoutMs: 10_000, maxRetries: 0 }).simplane;
  expect(await outcomeWithin(29_000, patient.events.feed({ after: 'c0', wait: 30 }))).toEqual({ data: [] });
  const silent = clientWith([after(600_000)], { timeoutMs: 10_000, maxRetries: 0 }).simplane;
  const endless = silent.events.feed({ after: 'c0', wait: 86_400 });
  expect(await outcomeWithin(70_000, endless)).toBeInstanceOf(TimeoutError);
});

test('a server error without a body of ours, as from a proxy, is a ServerError', async () => {
  const { simplane } = clientWith([() => new Response('Bad gateway', { status: 502 })], { maxRetries: 0 });
  expect(await outcomeWithin(0, simplane.me())).toBeInstanceOf(ServerError);
});

test('clients that fail together do not all come back together', () => {
  expect([delayBefore(3, null, 0), delayBefore(3, null, 0.5), delayBefore(3, null, 1)]).toEqual([
    1_000, 750, 500,
  ]);
});

test('what was aborted before its pause is not tried again', async () => {
  const trying = keepTrying(AbortSignal.abort('enough'), () => Promise.reject(new Error('aborted')));
  expect(await outcomeWithin(0, trying)).toBe('enough');
});

/** A stream that sends this text and then does what is asked; `read` tells what became of it. */
function streamThat(text: string, then: (controller: ReadableStreamDefaultController) => void, type: string) {
  const state = { isCanceled: false };
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      then(controller);
    },
    cancel() {
      state.isCanceled = true;
    },
  });
  return { state, respond: () => new Response(body, { headers: { 'content-type': type } }) };
}

const eventText = (n: number) => `id: c${n}\ndata: ${JSON.stringify({ id: `evt_${n}` })}\n\n`;

test('a stream that breaks off after each event is opened again as soon as after the first', async () => {
  const breaking = Array.from({ length: 10 }, (_, n) => {
    // Not at once: an error drops what was not read yet.
    const breakOff = (controller: ReadableStreamDefaultController) =>
      setTimeout(() => controller.error(new Error('reset')), 10);
    return () => streamThat(eventText(n), breakOff, 'text/event-stream').respond();
  });
  const { simplane, seen } = clientWith(breaking);
  const reading = simplane.events.follow({ after: 'c0' })[Symbol.asyncIterator]();
  const ten = (async () => {
    for (let count = 0; count < 10; count++) await reading.next();
  })();
  await outcomeWithin(10 * (10 + 250), ten);
  expect(seen.requests).toBe(10);
  await reading.return?.();
});

test('a quiet stream that ends cleanly after some time is opened again at once', async () => {
  const end = (controller: ReadableStreamDefaultController) => setTimeout(() => controller.close(), 6_000);
  const quiet = () => streamThat(':\n\n', end, 'text/event-stream').respond();
  const { simplane, seen } = clientWith([quiet]);
  const stop = new AbortController();
  const following = simplane.events.follow({ after: 'c0', signal: stop.signal });
  const next = following[Symbol.asyncIterator]().next();
  await outcomeWithin(6_000, next);
  expect(seen.requests).toBe(2);
  stop.abort();
  expect(await outcomeWithin(0, next)).toEqual({ done: true, value: undefined });
});

test('a loop that is aborted while it handles an event ends at once, although the stream stays open', async () => {
  const open = streamThat(eventText(1), () => {}, 'text/event-stream');
  const { simplane } = clientWith([open.respond]);
  const stop = new AbortController();
  const loop = (async () => {
    for await (const _ of simplane.events.follow({ after: 'c0', signal: stop.signal })) stop.abort();
    return 'ended';
  })();
  expect(await outcomeWithin(0, loop)).toBe('ended');
  expect(open.state.isCanceled).toBe(true);
});

test('an answer that is no stream is not left open', async () => {
  const page = streamThat('<p>', () => {}, 'text/html');
  const { simplane } = clientWith([page.respond]);
  const first = simplane.events.follow({ after: 'c0' })[Symbol.asyncIterator]().next();
  expect(String(await outcomeWithin(0, first))).toContain('instead of a stream');
  expect(page.state.isCanceled).toBe(true);
});

test('a stream that was never open fails after four retries, so that a wrong address is noticed', async () => {
  const { simplane, seen } = clientWith([answer(503)]);
  const first = simplane.events.follow({ after: 'c0' })[Symbol.asyncIterator]().next();
  expect(await outcomeWithin(60_000, first)).toMatchObject({ status: 503 });
  expect(seen.requests).toBe(5);
});

test('the pauses between attempts double up to eight seconds', () => {
  expect([1, 2, 5, 6, 7, 60].map((retry) => delayBefore(retry, null, 0))).toEqual([
    ...[250, 500, 4_000, 8_000, 8_000, 8_000],
  ]);
});

test('a Retry-After is seconds or a date; one that is over means no pause, and anything else nothing', () => {
  vi.setSystemTime(new Date('2026-11-19T12:00:00Z'));
  const texts = ['7', 'Thu, 19 Nov 2026 12:00:05 GMT', 'Thu, 19 Nov 2026 11:00:00 GMT', 'soon', '', null];
  expect(texts.map(retryAfterMs)).toEqual([7_000, 5_000, 0, null, null, null]);
});

/** When each request arrives, in milliseconds, if every one is answered like this at once. */
function timed(respond: (request: number) => Response, options: Partial<SimplaneOptions> = {}) {
  const startMs = performance.now();
  const atMs: number[] = [];
  const respondTo = () => respond(atMs.push(Math.round(performance.now() - startMs)));
  return { atMs, ...clientWith([respondTo], options) };
}

const hangs = (signal: AbortSignal) =>
  new Promise<Response>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('an execution is polled with growing pauses of up to two seconds, for a minute', async () => {
  const { simplane, atMs } = timed(() => Response.json({ id: 'exec_1', status: 'running' }));
  const waiting = simplane.executions.wait('exec_1');
  expect(await outcomeWithin(59_999, waiting)).toBeUndefined();
  expect(await outcomeWithin(1, waiting)).toBeInstanceOf(TimeoutError);
  expect(atMs.slice(0, 4)).toEqual([0, 100, 250, 475]);
  const pauses = atMs.slice(1).map((ms, index) => ms - (atMs[index] ?? 0));
  expect(pauses.slice(8, -1).every((ms) => ms === 2_000)).toBe(true);
  expect(atMs.at(-1)).toBe(60_000);
});

test('a batch is waited for ten minutes, in which every poll is told; an abort ends it', async () => {
  const seen: number[] = [];
  const { simplane, atMs } = timed((request) => Response.json({ id: 'bat_1', open: request }));
  const waiting = simplane.batches.wait('bat_1', { onProgress: ({ open }) => void seen.push(open) });
  expect(await outcomeWithin(599_999, waiting)).toBeUndefined();
  expect(await outcomeWithin(1, waiting)).toBeInstanceOf(TimeoutError);
  expect(atMs.slice(0, 4)).toEqual([0, 100, 250, 475]);
  expect(seen).toEqual(atMs.map((_, index) => index + 1));
  const stop = new AbortController();
  const aborted = simplane.batches.wait('bat_1', { signal: stop.signal });
  expect(await outcomeWithin(10, aborted)).toBeUndefined();
  stop.abort('enough');
  expect(await outcomeWithin(0, aborted)).toBe('enough');
});

test('without settings, an attempt has 20 seconds, a call 60, and four retries', async () => {
  const hanging = clientWith([hangs]);
  const calling = hanging.simplane.me();
  await outcomeWithin(19_999, calling);
  expect(hanging.seen.requests).toBe(1);
  await outcomeWithin(500, calling);
  expect(hanging.seen.requests).toBe(2);
  expect(await outcomeWithin(39_500, calling)).toBeUndefined();
  expect(await outcomeWithin(1, calling)).toBeInstanceOf(TimeoutError);
  const failing = clientWith([answer(500)]);
  expect(await outcomeWithin(60_000, failing.simplane.me())).toMatchObject({ status: 500 });
  expect(failing.seen.requests).toBe(5);
});

test('a stream that is silent for 45 seconds is opened again, and the hooks count its attempts', async () => {
  const attempts: number[] = [];
  const silent = () => streamThat(eventText(1), () => {}, 'text/event-stream').respond();
  const onRequest = ({ attempt }: { attempt: number }) => void attempts.push(attempt);
  const { simplane } = clientWith([answer(503), silent, answer(503), silent], { onRequest });
  const events = simplane.events.follow({ after: 'c0' })[Symbol.asyncIterator]();
  expect(await outcomeWithin(250, events.next())).toMatchObject({ value: { id: 'evt_1' } });
  const second = events.next();
  expect(await outcomeWithin(44_999, second)).toBeUndefined();
  expect(attempts).toEqual([1, 2]);
  expect(await outcomeWithin(1_000, second)).toMatchObject({ value: { id: 'evt_1' } });
  expect(attempts).toEqual([1, 2, 2, 3]);
  await events.return?.();
});

test('a read has neither a key of its own nor a type, and leaves out what is not given', async () => {
  const sent: [url: string, headers: Headers][] = [];
  const fetch = async (url: string, { headers }: RequestInit) => {
    sent.push([url, new Headers(headers)]);
    return Response.json({ data: [], has_more: false });
  };
  const { simplane } = clientWith([], { fetch });
  await simplane.events.list({ type: undefined, limit: 3 } as object);
  for await (const _ of simplane.events.list());
  expect(sent.map(([url]) => url)).toEqual([
    ...['http://api.test/v1/events?limit=3', 'http://api.test/v1/events?limit=100'],
  ]);
  for (const [, headers] of sent)
    expect([headers.has('idempotency-key'), headers.has('content-type')]).toEqual([false, false]);
});

test('only the order of provisionAndWait has its idempotency key', async () => {
  const keys: string[] = [];
  const done = { id: 'exec_1', status: 'succeeded', iccid: '89' };
  const fetch = async (_: string, { method = '', headers }: RequestInit) => {
    keys.push(`${method} ${new Headers(headers).get('idempotency-key')}`);
    return Response.json(done);
  };
  const { simplane } = clientWith([], { fetch });
  await simplane.esims.provisionAndWait(order, { idempotencyKey: 'mine' });
  expect(keys).toEqual(['POST mine', 'GET null', 'GET null', 'GET null']);
});

test('what failed is named by its cause, by code or else by text', async () => {
  for (const [cause, named] of [
    [{ code: 'ECONNREFUSED', message: 'connect' }, '(ECONNREFUSED)'],
    [{ message: 'socket hang up' }, '(socket hang up)'],
    [undefined, '(fetch failed)'],
  ] as const) {
    const fail = () => Promise.reject(new TypeError('fetch failed', { cause }));
    const { simplane } = clientWith([fail], { maxRetries: 0 });
    expect(String(await outcomeWithin(0, simplane.me()))).toContain(`GET /v1/me got no response ${named}`);
  }
});

test('a write that was redirected has changed nothing', async () => {
  const { simplane } = clientWith([() => new Response(null, { status: 307 })]);
  expect(await outcomeWithin(0, simplane.esims.create(order))).toMatchObject({
    ...{ status: 307, mayHaveTakenEffect: false, idempotencyKey: expect.any(String) },
  });
});

test('an error of any type is an ApiError, also if its type is a word that JavaScript knows', async () => {
  for (const [type, status, name] of [
    ['constructor', 400, 'ApiError'],
    ['toString', 500, 'ServerError'],
    ['of_tomorrow', 403, 'ApiError'],
    ['conflict_error', 409, 'ConflictError'],
  ] as const) {
    const { simplane } = clientWith([answer(status, { error: { type } })], { maxRetries: 0 });
    const error = await outcomeWithin(0, simplane.me());
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ name, status });
  }
});

test('an order that failed without a reason is named', async () => {
  const { simplane } = clientWith([answer(200, { id: 'exec_1', status: 'failed', error: null })]);
  const failed = await outcomeWithin(0, simplane.executions.wait('exec_1'));
  expect(failed).toMatchObject({ name: 'ExecutionFailedError', message: 'exec_1 failed.' });
});

test('a reader goes on after a timeout, and reads on at once while there are events', async () => {
  let calls = 0;
  const late = async () => {
    calls += 1;
    if (calls === 1) throw new TimeoutError('no response in time');
    return 'answered';
  };
  expect(await outcomeWithin(250, keepTrying(new AbortController().signal, late))).toBe('answered');

  const page = (n: number) => Response.json({ data: [{ id: `evt_${n}` }], cursor: `c${n}` });
  const { simplane, atMs } = timed(page);
  const events = simplane.events.follow({ after: 'c0', transport: 'poll' })[Symbol.asyncIterator]();
  for (let n = 1; n <= 20; n++) expect((await events.next()).value?.id).toBe(`evt_${n}`);
  expect(atMs).toEqual(Array.from({ length: 20 }, () => 0));
  await events.return?.();
});

test('a server that waits for a second before it says that there is nothing is asked again at once', async () => {
  const nothing = () =>
    new Promise<Response>((resolve) => {
      setTimeout(() => resolve(Response.json({ data: [], cursor: 'c0' })), 1_000);
    });
  const { simplane, seen } = clientWith([nothing]);
  const stop = new AbortController();
  const follow = simplane.events.follow({ after: 'c0', transport: 'poll', signal: stop.signal });
  const next = follow[Symbol.asyncIterator]().next();
  await outcomeWithin(10_000, next);
  expect(seen.requests).toBe(11);
  stop.abort();
  await outcomeWithin(1_000, next);
});
