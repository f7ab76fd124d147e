import { expect, test } from 'vitest';
import { nextDelayMs, parseRetryAfter } from './retry.ts';

const scheduleMs = [1_000, 5_000, 2_000];
const delay = (attempts: number, retryAfterMs: number | null, random = 0) =>
  nextDelayMs({ attempts, scheduleMs, retryAfterMs, random });

test('Retry-After lengthens a step up to the next one', () => {
  expect(delay(1, null)).toBe(1_000);
  expect(delay(1, 0)).toBe(1_000);
  expect(delay(1, 3_000)).toBe(3_000);
  expect(delay(1, 60_000)).toBe(5_000);
});

test('Retry-After does not change a step if the next one is shorter or missing', () => {
  expect(delay(2, 60_000)).toBe(5_000);
  expect(delay(3, 60_000)).toBe(2_000);
  expect(delay(4, 60_000)).toBeNull();
});

test('jitter adds up to a fifth of the step', () => {
  expect([delay(1, null, 0.5), delay(1, null, 1)]).toEqual([1_100, 1_200]);
});

test.each([
  [' 120 ', 120_000],
  ['120s', null],
  ['x120', null],
  ['Sun, 09 Sep 2001 01:47:10 GMT', 30_000],
])('Retry-After %j is %j ms', (value, expected) => {
  expect(parseRetryAfter(value, 1_000_000_000_000)).toBe(expected);
});
