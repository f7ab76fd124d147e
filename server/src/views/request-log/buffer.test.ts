import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createRequestLog, type RequestLine } from './buffer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const uuid = '0190a000-0000-7000-8000-000000000000';
const line: RequestLine = {
  ...{ accountUuid: uuid, id: `req_${'0'.repeat(26)}`, apiKeyUuid: uuid },
  ...{ method: 'GET', path: '/v1/me', operation: 'getMe', via: 'api', status: 200, error: null },
  ...{ durationMs: 1, idempotency: null, createdIds: [], ip: null },
};

function logTo(query: () => Promise<unknown>) {
  const dropped = vi.fn();
  const db = { pool: { waitingCount: 0 }, query } as unknown as Parameters<typeof createRequestLog>[0]['db'];
  return { dropped, log: createRequestLog({ db, level: 'all', onDropped: dropped, onError: () => {} }) };
}

test('a log that has stopped leaves no timer behind, whether it could write its lines or not', async () => {
  for (const query of [async () => [], () => new Promise(() => {})]) {
    const { log, dropped } = logTo(query);
    log.add(line);
    await log.stop(10);
    expect([vi.getTimerCount(), dropped.mock.calls]).toEqual([0, []]);
  }
});

test('a log that has written its lines does not keep the process for the rest of the time that it had', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const logs = Array.from({ length: 50 }, () => logTo(async () => []).log);
  for (const log of logs) log.add(line);
  await Promise.all(logs.map((log) => log.stop(600_000)));
  expect(timers() - before).toBeLessThan(50);
});

test('a pause follows each statement, and nothing else is written meanwhile', async () => {
  const query = vi.fn(async () => []);
  const { log } = logTo(query);
  for (let n = 0; n < 501; n++) log.add(line);
  await vi.advanceTimersByTimeAsync(249);
  expect(query).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(query).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(249);
  expect(query).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(query).toHaveBeenCalledTimes(2);
});
