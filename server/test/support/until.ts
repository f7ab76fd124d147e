/** Waits for a condition that something else brings about: polls it, and fails with what it last saw. */
export async function until<T>(
  look: () => Promise<T>,
  isMet: (seen: T) => boolean,
  boundMs = 30_000,
): Promise<T> {
  const giveUpAtMs = performance.now() + boundMs;
  for (;;) {
    const seen = await look();
    if (isMet(seen)) return seen;
    if (performance.now() > giveUpAtMs) throw new Error(`still not so: ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
