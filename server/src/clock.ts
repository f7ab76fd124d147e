/** Wall time, from the context everywhere: tests move it, nobody sleeps. */
export type Clock = { nowMs(): number };

export const systemClock: Clock = { nowMs: () => Date.now() };

export function unixSeconds(at: Date | number): number {
  return Math.floor(Number(at) / 1000);
}
