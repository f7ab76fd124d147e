import { expect, test } from 'vitest';
import { pauseAfter } from './pause-after.ts';

test('a pass waits for more events, but hardly for a reader of a lone one', () => {
  expect([1, 7, 20, 500].map((count) => pauseAfter(count, true))).toEqual([1, 7, 20, 20]);
  expect([1, 7, 500].map((count) => pauseAfter(count, false))).toEqual([50, 50, 50]);
});
