import { expect, test } from 'vitest';
import { createClockSkew } from './clock-skew.ts';

test.each([
  [0, 'right'],
  [2_000, 'right'],
  [-2_000, 'right'],
  [2_001, 'off'],
  [-2_001, 'off'],
  [30_000, 'off'],
  [30_001, 'wrong'],
  [-30_001, 'wrong'],
])('a machine that is %i ms ahead is %s', (aheadMs, state) => {
  const clock = { nowMs: () => 1_800_000_000_000 };
  const skew = createClockSkew(clock, () => clock.nowMs() + aheadMs);
  expect(skew.judge()).toBe(state);
  expect(skew.currentMs()).toBe(aheadMs);
  expect(skew.trouble() === null).toBe(state !== 'wrong');
});

test('a clock is judged at the start and when asked, not in between: a machine that slept measures first', () => {
  let aheadMs = 3_600_000;
  const skew = createClockSkew({ nowMs: () => 0 }, () => aheadMs);
  expect(skew.trouble()).toContain('3600 s ahead of PostgreSQL’s');
  aheadMs = 0;
  expect(skew.trouble()).not.toBeNull();
  skew.judge();
  expect(skew.trouble()).toBeNull();
  aheadMs = -40_000;
  expect(skew.trouble()).toBeNull();
  skew.judge();
  expect(skew.trouble()).toContain('40 s behind PostgreSQL’s');
});
