import fc from 'fast-check';
import { expect, test } from 'vitest';
import { disabledReason, shouldDisable } from './health.ts';

const rule = { afterMs: 30_000, minFailures: 6 };
const start = new Date(1_800_000_000_000);

test('an endpoint is disabled when both have come: the time and the failures, and not before', () => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(20), (elapsedMs, failureCount) => {
      const now = new Date(start.getTime() + elapsedMs);
      const verdict = shouldDisable({ failingSince: start, failureCount }, rule, now);
      expect(verdict).toBe(elapsedMs >= 30_000 && failureCount >= 6);
    }),
  );
});

test('one that is not failing is never disabled', () => {
  expect(shouldDisable({ failingSince: null, failureCount: 1_000 }, rule, new Date(9e14))).toBe(false);
});

test('the reason has the facts: how many, since when, and the last answer or error', () => {
  const health = { failingSince: start, failureCount: 7 };
  expect(disabledReason(health, { statusCode: 503, error: null })).toMatch(
    /7 attempts since 2027-01-15T.+ the status 503\./,
  );
  expect(disabledReason(health, { statusCode: null, error: 'connection refused' })).toContain(
    'connection refused',
  );
});
