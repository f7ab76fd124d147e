import fc from 'fast-check';
import { expect, test } from 'vitest';
import { disabledReason, shouldDisable } from './health.ts';

const rule = { afterMs: 30_000, minFailures: 6 };
const start = new Date(1_800_000_000_000);

test('an endpoint is disabled only once it has reached both the time and the failure count', () => {
  fc.assert(
    fc.property(fc.nat(100_000), fc.nat(20), (elapsedMs, failureCount) => {
      const now = new Date(start.getTime() + elapsedMs);
      const verdict = shouldDisable({ failingSince: start, failureCount }, rule, now);
      expect(verdict).toBe(elapsedMs >= 30_000 && failureCount >= 6);
    }),
  );
});

test('a healthy endpoint is never disabled', () => {
  expect(shouldDisable({ failingSince: null, failureCount: 1_000 }, rule, new Date(9e14))).toBe(false);
});

test('the reason names the failure count, the start and the last status or error', () => {
  const health = { failingSince: start, failureCount: 7 };
  expect(disabledReason(health, { statusCode: 503, error: null })).toMatch(
    /7 attempts since 2027-01-15T.+ status 503\./,
  );
  expect(disabledReason(health, { statusCode: null, error: 'connection refused' })).toContain(
    'connection refused',
  );
});
