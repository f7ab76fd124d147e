import type { Done, Network, Refusal, Reply } from '../../network/port.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { withTimeout } from '../executions/hold.ts';
import { callId } from '../executions/runner.ts';
import { returnStep } from './present.ts';
import { type ClaimedReturn, claimReturns, settleReturn } from './sql/executions.ts';

type Deps = {
  db: Database;
  clock: Clock;
  network: Network;
  networkTimeoutMs: number;
  retryScheduleMs: number[];
  onError(error: unknown): void;
};

const batchSize = 8;
const longestDelayMs = 3_600_000;

/**
 * Cancels, at the network, the profiles that operators decided to give back. A failed call is repeated until the network answers;
 * a refusal is final and stays visible. Returns how many were tried.
 */
export async function returnProfiles(deps: Deps, stopping: AbortSignal): Promise<number> {
  // The calls run concurrently, so a lease longer than one timeout is enough for all of them.
  const claimed = await claimReturns(deps.db, batchSize, deps.networkTimeoutMs + 15_000);
  await Promise.all(claimed.map((one) => giveBack(deps, one, stopping).catch(deps.onError)));
  return claimed.length;
}

async function giveBack(deps: Deps, claimed: ClaimedReturn, stopping: AbortSignal): Promise<void> {
  const { iccid, eid, attempts, execution_id: id } = claimed;
  const reply = await withTimeout<Done>(deps.networkTimeoutMs, stopping, (signal) =>
    deps.network.cancel({
      ...{ id: callId({ id }, returnStep), attempt: attempts, isRepeated: attempts > 1, signal },
      // The order was never confirmed, so it has no matching id: the operator vouches for the profile.
      ...{ iccid, eid, matchingId: null, isUnconfirmed: true },
    }),
  );
  const isOver = reply.kind !== 'failed';
  await settleReturn(deps.db, claimed, {
    closedAt: isOver ? new Date(deps.clock.nowMs()) : null,
    delayMs: isOver ? 0 : (deps.retryScheduleMs[attempts - 1] ?? longestDelayMs),
    error: errorOf(reply),
  });
}

function errorOf(reply: Reply<Done>): object | null {
  if (reply.kind === 'done') return null;
  const { code, message, detail = message, upstream }: Refusal = reply.reason;
  return { code, message: detail, ...(upstream && { upstream }) };
}
