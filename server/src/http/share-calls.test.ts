import { expect, test } from 'vitest';
import { shareCalls } from './share-calls.ts';

/** Numbers its results, so that a shared one is recognised. */
function counted(freshMs?: number) {
  let count = 0;
  return shareCalls(async () => {
    count += 1;
    if (count === 2) throw new Error('refused');
    return count;
  }, freshMs);
}

test('calls that overlap share one result, and a refusal is not remembered', async () => {
  const call = counted();
  expect(await Promise.all([call(), call(), call()])).toEqual([1, 1, 1]);
  await expect.poll(async () => call().catch(() => 'refused')).toBe('refused');
  expect(await call()).toBe(3);
});

test('a result is used for as long as it is fresh', async () => {
  const call = counted(3_600_000);
  expect([await call(), await call()]).toEqual([1, 1]);
});
