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
  const metrics = {
    requestDuration: { observe: (_: object, duration: number) => void seconds.push(duration) },
    throughput: { count: () => {} },
  };
  const log = createLog('info', { write: (line) => void lines.push(line) });
  const service = { log, metrics, requestLog: { level: 'off' } } as unknown as Service;
  return { seconds, lines, record: createRecorder(service, {}) };
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
