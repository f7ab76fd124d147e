import fc from 'fast-check';
import { expect, test } from 'vitest';
import { disabledReason, reportRuleOf, shouldDisable } from './health.ts';

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
  expect(disabledReason(health, 'status 503')).toMatch(
    /7 attempts since 2027-01-15T\d\d:\d\d:\d\dZ .+ with status 503\./,
  );
});

test('an endpoint that would be disabled would also be reported as failing', () => {
  fc.assert(
    fc.property(fc.nat(1e9), fc.nat(100), (afterMs, minFailures) => {
      const reported = reportRuleOf({ afterMs, minFailures });
      expect(reported.afterMs).toBeLessThanOrEqual(afterMs);
      expect(reported.minFailures).toBeLessThanOrEqual(minFailures);
    }),
  );
});

test('an endpoint is reported as failing after a tenth of the time, at most a minute, and three failures', () => {
  expect(reportRuleOf({ afterMs: 5 * 86_400_000, minFailures: 20 })).toEqual({
    afterMs: 60_000,
    minFailures: 3,
  });
  expect(reportRuleOf({ afterMs: 30_000, minFailures: 6 })).toEqual({ afterMs: 3_000, minFailures: 3 });
});
