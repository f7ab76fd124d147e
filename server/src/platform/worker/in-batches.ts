import { setTimeout as sleep } from 'node:timers/promises';

type Options = { size: number; stopping: AbortSignal | undefined };

/**
 * Calls `clear` in batches until one is not full. Returns the total. Between batches it pauses for as long as the last one took,
 * so that purging a million rows takes at most half of one connection's time. Stopping waits for at most one batch.
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
