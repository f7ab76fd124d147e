import { expect, test } from 'vitest';
import { createThroughput } from './throughput.ts';

test('what happened counts for a minute and for an hour, also after a long silence', () => {
  let nowMs = 1_000;
  const throughput = createThroughput(() => nowMs);
  const rate = () => Object.values(throughput.read().requests);
  throughput.count('requests');
  throughput.count('requests');
  expect(rate()).toEqual([2, 2]);
  nowMs = 54_999;
  throughput.count('requests');
  expect(rate()).toEqual([3, 3]);
  nowMs = 60_000;
  expect(rate()).toEqual([1, 3]);
  nowMs = 3_599_999;
  expect(rate()).toEqual([0, 3]);
  throughput.count('requests');
  nowMs = 10 * 3_600_000;
  expect(rate()).toEqual([0, 0]);
  throughput.count('requests');
  expect(rate()).toEqual([1, 1]);
  expect(throughput.read().executions_failed).toEqual({ last_minute: 0, last_hour: 0 });
});
