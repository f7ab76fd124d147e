import { expect, test } from 'vitest';
import { lateSeconds } from './event-loop-delay.ts';

test('a loop that is on time has no delay, and a stall counts without the time between two looks', () => {
  expect(lateSeconds(100)).toBe(0);
  expect(lateSeconds(99.9)).toBe(0);
  expect(lateSeconds(350)).toBe(0.25);
});
