import { expect, test, vi } from 'vitest';
import { createStatsCollector } from './collect.ts';

const hourMs = 3_600_000;

/** Counts in memory for at most this many endpoints and hours. Statements end when the test says so. */
function collector(maxEntries: number) {
  const ends: ((error?: Error) => void)[] = [];
  const query = vi.fn(
    () => new Promise((resolve, reject) => ends.push((error) => (error ? reject(error) : resolve([])))),
  );
  const stats = createStatsCollector({ query } as never, { maxEntries });
  const record = (endpoint: number, atMs = 0) => {
    const endpointUuid = `00000000-0000-7000-8000-00000000000${endpoint}`;
    const attempt = { accountUuid: endpointUuid, endpointUuid, at: new Date(atMs) };
    stats.record({ ...attempt, durationMs: 1, isSuccess: true });
  };
  return { stats, record, query, ends };
}

test('what is counted is written before the memory for it is full, by one statement at a time', async () => {
  const { record, query, ends, stats } = collector(4);
  for (const atMs of [0, hourMs - 1]) record(1, atMs);
  expect(query).toHaveBeenCalledTimes(0);
  record(1, hourMs);
  expect(query).toHaveBeenCalledTimes(1);
  for (let endpoint = 1; endpoint < 4; endpoint++) record(endpoint);
  expect(query).toHaveBeenCalledTimes(1);
  const flushed = stats.flush();
  expect(query).toHaveBeenCalledTimes(1);
  ends[0]?.();
  await flushed;
  const rest = stats.flush();
  expect(query).toHaveBeenCalledTimes(2);
  ends[1]?.();
  await rest;
});

test('a failure to write what was counted is told by the next flush', async () => {
  const { record, ends, stats } = collector(2);
  record(1);
  ends[0]?.(new Error('away'));
  await new Promise((resolve) => setImmediate(resolve));
  const flushed = stats.flush();
  ends[1]?.(new Error('still away'));
  await expect(flushed).rejects.toThrow('still away');
});
