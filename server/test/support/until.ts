/** Polls until the condition is met; fails with the last value seen. */
export async function until<T>(
  read: () => Promise<T>,
  isMet: (seen: T) => boolean,
  timeoutMs = 30_000,
): Promise<T> {
  const deadlineMs = performance.now() + timeoutMs;
  for (;;) {
    const seen = await read();
    if (isMet(seen)) return seen;
    if (performance.now() > deadlineMs) throw new Error(`condition not met: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
