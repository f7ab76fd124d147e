import { setTimeout as sleep } from 'node:timers/promises';

/** Polls until a condition is met; returns false on timeout. */
export async function until(
  isMet: () => Promise<boolean> | boolean,
  timeoutMs: number,
  intervalMs = 50,
): Promise<boolean> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    if (await isMet()) return true;
    if (performance.now() > deadlineMs) return false;
    await sleep(intervalMs);
  }
}
