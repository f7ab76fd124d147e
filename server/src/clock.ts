/** Wall time. Always taken from the context, so that tests can move it instead of sleeping. */
export type Clock = { nowMs(): number };

export const systemClock: Clock = { nowMs: () => Date.now() };

export function unixSeconds(at: Date | number): number {
  return Math.floor(Number(at) / 1000);
}
