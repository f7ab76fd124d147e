import { expect, test } from 'vitest';
import { inBatches } from './in-batches.ts';

test('runs batches until one is not full', async () => {
  const counts = [10, 10, 3];
  const sizes: number[] = [];
  const clear = async (count: number) => {
    sizes.push(count);
    return counts.shift() ?? 0;
  };
  expect(await inBatches({ size: 10, stopping: undefined }, clear)).toBe(23);
  expect(sizes).toEqual([10, 10, 10]);
});

test('stopping waits only for the running batch', async () => {
  const stopping = new AbortController();
  let batches = 0;
  const clearing = inBatches({ size: 1, stopping: stopping.signal }, async () => {
    batches += 1;
    if (batches === 3) stopping.abort();
    return 1;
  });
  expect(await clearing).toBe(3);
  expect(await inBatches({ size: 1, stopping: stopping.signal }, async () => 1)).toBe(0);
});
