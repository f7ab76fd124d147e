import type { FastifyReply, FastifyRequest } from 'fastify';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Service } from '../background/service.ts';
import { createLog } from '../platform/telemetry/log.ts';
import { createRecorder } from './record-request.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

function start() {
  const seconds: number[] = [];
  const lines: string[] = [];
  const counted: string[] = [];
  const errorCount = { inc: ({ error_type }: { error_type: string }) => void counted.push(error_type) };
  const replayCount = { inc: () => void counted.push('replay') };
  const metrics = {
    requestDuration: { observe: (_: object, duration: number) => void seconds.push(duration) },
    throughput: { count: (what: string) => void counted.push(what) },
    ...{ errorCount, replayCount },
  };
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const service = { log, metrics, requestLog: { level: 'off' } } as unknown as Service;
  return { seconds, lines, counted, record: createRecorder(service, {}) };
}

const request = (heldFromMs: number | null) =>
  ({
    ...{ method: 'GET', url: '/v1/events/feed', routeOptions: { url: '/v1/events/feed' }, headers: {} },
    ...{ startedMs: performance.now(), heldFromMs, caller: null, refusal: null, idempotency: null },
  }) as unknown as FastifyRequest;
const reply = { statusCode: 200, raw: { headersSent: true } } as unknown as FastifyReply;

test('the time for which a client lets a request wait is logged, but does not count as latency', () => {
  const { seconds, lines, record } = start();
  const [plain, held] = [request(null), request(performance.now() + 5)];
  vi.advanceTimersByTime(30_000);
  for (const one of [plain, held]) record(one, reply, true);
  expect(seconds).toEqual([30, 0.005]);
  expect(lines.map((line) => JSON.parse(line).duration_ms)).toEqual([30_000, 30_000]);
});

test('a request whose client left has its own status; a stream that a client left has succeeded', () => {
  const { lines, record } = start();
  const unsent = { statusCode: 200, raw: { headersSent: false } } as unknown as FastifyReply;
  record(request(null), reply, false);
  record(request(performance.now()), unsent, false);
  record(request(performance.now()), reply, false);
  expect(lines.map((line) => JSON.parse(line).status)).toEqual([499, 499, 200]);
});

test('requests, replays and the errors that clients got are counted', () => {
  const limited = { statusCode: 429, raw: { headersSent: true } } as unknown as FastifyReply;
  const { counted, lines, record } = start();
  const refused = { ...request(null), refusal: { code: 'rate_limited' } } as unknown as FastifyRequest;
  const replayed = { ...request(null), idempotency: 'replayed' } as FastifyRequest;
  record(refused, limited, true);
  record(refused, reply, false);
  record(replayed, reply, true);
  expect(counted).toEqual(['requests', 'rate_limited', 'requests', 'requests', 'replay']);
  expect(lines.map((line) => JSON.parse(line).error_code)).toEqual(['rate_limited', undefined, undefined]);
});

test('paths that clients make up are one route, or each would be a series of metrics', () => {
  const { lines, record } = start();
  record({ ...request(null), is404: true, url: '/made-up' } as FastifyRequest, reply, true);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ route: 'unknown' });
});
