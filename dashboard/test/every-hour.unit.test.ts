import { expect, test } from 'vitest';
import { everyHour } from '../src/parts/every-hour.ts';

test('an hour without attempts has its place, and the newest hour is the last', () => {
  const from = 1_800_000_000;
  const hourOf = (number: number, failed: number) => ({
    hour: from + number * 3_600,
    succeeded_count: 1,
    failed_count: failed,
    p50_ms: 1,
    p99_ms: 1,
  });
  const hours = everyHour({ from, hours: [hourOf(3, 7), hourOf(0, 0)] }, from + 3 * 3_600 + 60);
  expect(hours.map(({ failed }) => failed)).toEqual([0, 0, 0, 7]);
  expect(hours.map(({ succeeded }) => succeeded)).toEqual([1, 0, 0, 1]);
});
