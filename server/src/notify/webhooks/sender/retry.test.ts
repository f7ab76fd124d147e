import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextDelayMs, parseRetryAfter } from './retry.ts';

const schedule = fc
  .array(fc.integer({ min: 1, max: 1_000_000 }), { minLength: 1, maxLength: 10 })
  .map((steps) => steps.sort((a, b) => a - b));
const random = fc.double({ min: 0, max: 1, noNaN: true });

test('jitter adds at most a fifth; after the last step there is no further attempt', () => {
  fc.assert(
    fc.property(schedule, fc.nat(12), random, (scheduleMs, index, jitter) => {
      const delay = nextDelayMs({ attempts: index + 1, scheduleMs, retryAfterMs: null, random: jitter });
      const step = scheduleMs[index];
      if (step === undefined) {
        expect(delay).toBeNull();
        return;
      }
      expect(delay).toBeGreaterThanOrEqual(step);
      expect(delay).toBeLessThanOrEqual(Math.round(step * 1.2));
    }),
  );
});

test('Retry-After lengthens a step, at most to the length of the next, and never shortens it', () => {
  fc.assert(
    fc.property(schedule, fc.nat(9), fc.nat(10_000_000), (scheduleMs, index, retryAfterMs) => {
      const delay = nextDelayMs({ attempts: index + 1, scheduleMs, retryAfterMs, random: 0 });
      const step = scheduleMs[index];
      if (step === undefined || delay === null) return;
      expect(delay).toBeGreaterThanOrEqual(step);
      expect(delay).toBeLessThanOrEqual(scheduleMs[index + 1] ?? step);
    }),
  );
});

test.each([
  ['120', 120_000],
  ['0', 0],
  [new Date(1_000_000_000_000 + 30_000).toUTCString(), 30_000],
  ['Mon, 01 Jan 1990 00:00:00 GMT', 0],
  ['soon', null],
  [undefined, null],
])('Retry-After %j is %j ms', (value, expected) => {
  expect(parseRetryAfter(value, 1_000_000_000_000)).toBe(expected);
});
