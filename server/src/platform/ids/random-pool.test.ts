import { expect, test } from 'vitest';
import { createRandomPool } from './random-pool.ts';

test('random bytes never come again, however many are drawn', () => {
  const random = createRandomPool();
  const drawn = Array.from({ length: 2_000 }, (_, index) => random(10 + (index % 7)).toString('hex'));
  expect(new Set(drawn.map((bytes) => bytes.slice(0, 20))).size).toBe(drawn.length);
});
