import type { ExecutionType } from '@simplane/contract';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Breaker } from './breaker.ts';
import { createClaimWindow } from './claim-window.ts';
import { type ClaimedExecution, claimExecutionRows } from './sql/queue.ts';

type Options = {
  db: Queryable;
  clock: Clock;
  leaseMs: number;
  paused: ExecutionType[];
  others: ExecutionType[];
};

/**
 * The claim while the network is paused: only executions that do not call it, and at times one for the probe. The waiting ones
 * are not touched, so they keep their place in the queue.
 */
export function createPausedClaim({ db, clock, leaseMs, paused, others }: Options, breaker: Breaker) {
  const claimInWindow = createClaimWindow(clock);
  const wanted = { leaseMs, iccids: [] };
  return async (count: number): Promise<ClaimedExecution[]> => {
    if (breaker.mayClaimProbe()) {
      // If the probe fails, an order that must not be sent twice would end with an unknown outcome.
      const any = { ...wanted, count: 1, since: null, types: paused };
      const { executions: best } = await claimExecutionRows(db, { ...any, isRepeatable: true });
      if (best.length > 0) return best;
      const { executions: oldest } = await claimExecutionRows(db, any);
      if (oldest.length > 0) return oldest;
    }
    const { executions } = await claimInWindow(async (since) => {
      const startedAt = new Date(clock.nowMs());
      const claimed = await claimExecutionRows(db, { ...wanted, count, since, types: others });
      // Nothing is left up to now, so that the next claim need not read the paused ones again.
      return claimed.executions.length < count ? { ...claimed, latestDueAt: startedAt } : claimed;
    });
    return executions;
  };
}
