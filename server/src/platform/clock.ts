/** The time of day: PostgreSQL's, or a test's. Always taken from the context, never from the machine's clock, which may be wrong. */
export type Clock = { nowMs(): number };

export function unixSeconds(at: Date | number): number {
  return Math.floor(Number(at) / 1000);
}
