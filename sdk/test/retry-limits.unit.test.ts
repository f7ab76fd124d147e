import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ApiError, createSimplane, type SimplaneOptions, TimeoutError } from '../src/index.ts';
import { healingDelay } from '../src/keep-trying.ts';

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

test('a request that a proxy gave up with 408 is sent again', async () => {
  const { simplane, seen } = clientWith([answer(408), answer(200)]);
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
