import { expect, test } from 'vitest';
import { addCounts, addTo, bucketOf, percentile } from './histogram.ts';

test('a percentile is within 10 % of the duration it stands for, from 2 ms to four minutes', () => {
  for (let durationMs = 2; durationMs < 240_000; durationMs = Math.ceil(durationMs * 1.07)) {
    const counts: number[] = [];
    addTo(counts, bucketOf(durationMs), 1);
    // Rounding to a whole millisecond adds up to half of one.
    expect(Math.abs((percentile(counts, 0.5) ?? 0) - durationMs)).toBeLessThanOrEqual(durationMs * 0.1 + 0.5);
  }
});

test('p50 and p99 of two processes are those of all their attempts', () => {
  const [fast, slow]: [number[], number[]] = [[], []];
  addTo(fast, bucketOf(10), 98);
  addTo(slow, bucketOf(1_000), 2);
  addCounts(fast, slow);
  expect([percentile(fast, 0.5), percentile(fast, 0.98), percentile(fast, 0.99)]).toEqual([10, 10, 939]);
  expect(percentile([], 0.5)).toBeNull();
  expect(percentile([3], 0.99)).toBe(1);
});
