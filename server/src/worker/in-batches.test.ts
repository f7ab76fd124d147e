import { expect, test } from 'vitest';
import { inBatches } from './in-batches.ts';

test('batches follow each other until one is not full', async () => {
  const counts = [10, 10, 3];
  const asked: number[] = [];
  const clear = async (count: number) => {
    asked.push(count);
    return counts.shift() ?? 0;
  };
  expect(await inBatches({ size: 10, stopping: undefined }, clear)).toBe(23);
  expect(asked).toEqual([10, 10, 10]);
});

test('a process that stops waits for the batch that runs, and for no rest', async () => {
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
