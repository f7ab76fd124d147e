import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addAll, addTo, bucketOf, quantile, unknownBucket } from './histogram.ts';

test('a duration is shown with an error of at most a tenth', () => {
  fc.assert(
    fc.property(fc.integer({ min: 10, max: 40 * 86_400_000 }), (durationMs) => {
      const shown = quantile(new Map([[bucketOf(durationMs), 1]]), 0.5) as number;
      expect(Math.abs(shown - durationMs)).toBeLessThanOrEqual(durationMs / 10 + 1);
    }),
  );
});

test('a quantile counts the durations up to it, and ignores those that are not known', () => {
  const buckets = new Map([
    [bucketOf(100), 90],
    [bucketOf(5_000), 10],
    [unknownBucket, 1_000],
  ]);
  expect([0.5, 0.9, 0.91].map((fraction) => quantile(buckets, fraction))).toEqual([99, 99, 5_312]);
  expect(quantile(new Map([[unknownBucket, 3]]), 0.5)).toBeNull();
});

test('the quantiles of two processes are those of all their durations', () => {
  const [fast, slow]: [number[], number[]] = [[], []];
  addTo(fast, bucketOf(10), 98);
  addTo(slow, bucketOf(1_000), 2);
  addAll(fast, slow);
  expect([0.5, 0.98, 0.99].map((share) => quantile(fast.entries(), share))).toEqual([10, 10, 939]);
  expect(quantile([0, 0].entries(), 0.5)).toBeNull();
});

test('what took less than a millisecond counts as known, in the first bucket', () => {
  expect([0, 0.001, 0.5, 0.84, 0.999].map(bucketOf)).toEqual([0, 0, 0, 0, 0]);
  expect(bucketOf(1)).toBe(1);
});
