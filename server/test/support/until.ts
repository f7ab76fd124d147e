/** For what takes a second on a quiet machine. A run of mutants, of which many keep something from happening, has less. */
export const patienceMs = Number(process.env['TEST_PATIENCE_MS'] ?? 240_000);

/** Polls until the condition is met, more slowly the longer it takes; fails with the last value seen. */
export async function until<T>(
  read: () => Promise<T>,
  isMet: (seen: T) => boolean,
  timeoutMs = patienceMs,
): Promise<T> {
  const startedMs = performance.now();
  for (;;) {
    const seen = await read();
    if (isMet(seen)) return seen;
    const waitedMs = performance.now() - startedMs;
    if (waitedMs > timeoutMs) throw new Error(`condition not met: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(10 + waitedMs / 20, 100)));
  }
}
