import { setTimeout as delay } from 'node:timers/promises';

/** Calls `ask` until it returns neither null nor false; returns null after the timeout. */
export async function poll<T>(
  ask: () => Promise<T | null | false>,
  { timeoutMs, everyMs = 20 }: { timeoutMs: number; everyMs?: number },
): Promise<T | null> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== false) return answer;
    if (performance.now() >= deadline) return null;
    await delay(everyMs);
  }
}
