import { setTimeout as sleep } from 'node:timers/promises';

type Options = { size: number; stopping: AbortSignal | undefined };

/**
 * Clears up, a batch at a time until one is not full, and says how much it was. Between two it rests for as long as the last
 * one took: a million old rows take half of one connection's time, not the disk from everybody else. A process that stops
 * waits for one batch at most.
 */
export async function inBatches(
  { size, stopping }: Options,
  clear: (count: number) => Promise<number>,
): Promise<number> {
  let cleared = 0;
  while (!stopping?.aborted) {
    const startedMs = performance.now();
    const count = await clear(size);
    cleared += count;
    if (count < size) break;
    await sleep(performance.now() - startedMs, undefined, stopping && { signal: stopping }).catch(() => {});
  }
  return cleared;
}
