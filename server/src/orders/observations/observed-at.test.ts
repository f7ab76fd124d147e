import { expect, test } from 'vitest';
import { isTooOld, observedAt, refuseFuture, sinceOrder } from './observed-at.ts';

const now = 1_800_000_000;
const clock = { nowMs: () => now * 1_000 };

test('a time up to five minutes ahead counts as now, and a later one is refused with both times', () => {
  refuseFuture(now + 300, 'at', clock);
  expect(() => refuseFuture(now + 301, 'at', clock)).toThrow(`it is ${now + 301}, and the time is ${now}`);
  expect(observedAt(now + 300, now * 1_000)).toEqual(new Date(now * 1_000));
  expect(observedAt(now - 1, now * 1_000)).toEqual(new Date((now - 1) * 1_000));
});

test('usage that is exactly as old as usage may be still counts', () => {
  const deps = { clock, usageMaxAgeMs: 86_400_000 };
  expect([now - 86_400, now - 86_401].map((at) => isTooOld(at, deps))).toEqual([false, true]);
});

test('nothing happened to an eSIM before its order', () => {
  const [early, late] = [new Date(1_000), new Date(2_000)];
  expect(sinceOrder(early, { created_at: late })).toBe(late);
  expect(sinceOrder(late, { created_at: early })).toBe(late);
});
