import { expect, onTestFinished, test, vi } from 'vitest';
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

test('pauses after each batch for as long as it took, so that others get half of the time', async () => {
  let readMs = 0;
  // By this clock each batch takes 40 ms.
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (readMs += 40));
  onTestFinished(() => clock.mockRestore());
  const atMs: number[] = [];
  await inBatches({ size: 1, stopping: undefined }, async () => (atMs.push(Date.now()) < 4 ? 1 : 0));
  const pausesMs = atMs.slice(1).map((ms, n) => ms - (atMs[n] ?? 0));
  expect(pausesMs).toHaveLength(3);
  expect(Math.min(...pausesMs)).toBeGreaterThanOrEqual(35);
});
