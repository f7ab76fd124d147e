import type { ExecutionType } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import type { Breaker } from './breaker.ts';
import { createClaimWindow } from './claim-window.ts';
import { claimExecutionRows } from './sql/claim.ts';
import type { ClaimedExecution } from './sql/rows.ts';

type Options = { db: Queryable; leaseMs: number; paused: ExecutionType[]; others: ExecutionType[] };

/**
 * The claim while the network is paused: only executions that do not call it, and at times one for the probe. The waiting ones
 * are not touched, so they keep their place in the queue.
 */
export function createPausedClaim({ db, leaseMs, paused, others }: Options, breaker: Breaker) {
  const claimInWindow = createClaimWindow();
  const wanted = { leaseMs, iccids: [] };
  return async (count: number): Promise<ClaimedExecution[]> => {
    if (breaker.mayClaimProbe()) {
      const probe = await claimExecutionRows(db, { ...wanted, count: 1, since: null, types: paused });
      if (probe.executions.length > 0) return probe.executions;
    }
    const claimed = await claimInWindow((since) =>
      claimExecutionRows(db, { ...wanted, count, since, types: others }),
    );
    return claimed.executions;
  };
}
