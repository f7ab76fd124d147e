import type { Clock } from '../../platform/clock.ts';

// Rows become visible when their transaction commits, slightly after their due time. While a snapshot is held open (a dump),
// a claim reads every row that ended in this window: at 3,000 orders a second, 250 ms are 750 rows.
const overlapMs = 250;

// A fallback scan has no lower bound, so it finds rows before the window: expired leases and transactions that committed late.
const fallbackEveryMs = 1_000;

// A scan is slow if a held snapshot keeps dead rows. Waiting 20 times its duration limits scans to 5 % of one connection.
const restFactor = 20;

// The window of a worker that has claimed nothing yet, between two fallback scans.
const firstWindowMs = 60_000;

/** Claims executions due at or after `since`; null claims without a lower bound. */
type Claim<Claimed> = (since: Date | null) => Promise<Claimed>;

/**
 * Decides how far back each claim of a worker looks. Claims are ordered by due time, so the next execution is close to the last
 * claimed one; earlier ones have ended or are held.
 */
export function createClaimWindow(clock: Clock, nowMs: () => number = () => performance.now()) {
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
        // After a first scan that timed out, the next claim must not scan again immediately.
        latestDueAtMs ??= clock.nowMs() - firstWindowMs;
      }
    }
    const dueAtMs = claimed.latestDueAt?.getTime() ?? Number.NEGATIVE_INFINITY;
    if (dueAtMs > (latestDueAtMs ?? Number.NEGATIVE_INFINITY)) latestDueAtMs = dueAtMs;
    return claimed;
  };
}
