// Rows become visible when their transaction commits, a little after the time they came due at. With a snapshot held open
// (a dump), a claim reads every row that ended in this time: at 3,000 orders a second 250 ms are 750 rows.
const overlapMs = 250;

// A claim that looks from the start finds what the others passed by: leases that ended, transactions that committed late.
const fallbackEveryMs = 1_000;

// A fallback scan that took long, over rows that a held snapshot keeps, rests for 20 times as long: 5 % of one connection.
const restFactor = 20;

// Where a worker looks that has claimed nothing yet, between two fallback scans.
const firstWindowMs = 60_000;

/** Claims `since` a time, as the worker's statement does. */
type Claim<Claimed> = (since: Date | null) => Promise<Claimed>;

/**
 * Decides how far back each claim of a worker looks. Claims go by the time that work came due, so what is due next is never far
 * from what was claimed last; everything before that has ended, or is held.
 */
export function createClaimWindow(nowMs: () => number = () => performance.now()) {
  let latestDueAtMs: number | null = null;
  let fallbackAtMs = Number.NEGATIVE_INFINITY;

  return async function claimInWindow<Claimed extends { latestDueAt: Date | null }>(
    claim: Claim<Claimed>,
  ): Promise<Claimed> {
    const startedAtMs = nowMs();
    const isFallback = latestDueAtMs === null || startedAtMs >= fallbackAtMs;
    let claimed: Claimed;
    try {
      claimed = await claim(isFallback ? null : new Date((latestDueAtMs as number) - overlapMs));
    } finally {
      if (isFallback) {
        const endedAtMs = nowMs();
        fallbackAtMs = endedAtMs + Math.max(fallbackEveryMs, (endedAtMs - startedAtMs) * restFactor);
        // A first scan that timed out must not be followed by another one at once.
        latestDueAtMs ??= Date.now() - firstWindowMs;
      }
    }
    const dueAtMs = claimed.latestDueAt?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (dueAtMs > (latestDueAtMs ?? Number.NEGATIVE_INFINITY)) latestDueAtMs = dueAtMs;
    return claimed;
  };
}
