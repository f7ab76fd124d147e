import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for a condition that something else brings about; false when it did not come about in time. */
export async function until(
  isMet: () => Promise<boolean> | boolean,
  boundMs: number,
  everyMs = 50,
): Promise<boolean> {
  const giveUpAtMs = performance.now() + boundMs;
  for (;;) {
    if (await isMet()) return true;
    if (performance.now() > giveUpAtMs) return false;
    await sleep(everyMs);
  }
}
