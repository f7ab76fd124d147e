import type { ClaimedExecution, Deps, HeldExecution } from '../executions/worker.ts';
import { orderMatchingIdPlace } from '../secrets/sealed-places.ts';
import { newMatchingId } from './activation-code.ts';
import type { AllotIccids } from './iccid.ts';
import type { Progress } from './reservation.ts';
import { allotRows } from './sql/allot.ts';

/** Allots a matching id to new orders, and an ICCID if we choose the ICCIDs. Returns the executions this worker still holds. */
export async function allot(
  deps: Deps,
  executions: ClaimedExecution[],
  allotIccids: AllotIccids,
): Promise<ClaimedExecution[]> {
  const fresh = executions.filter(({ progress }) => !(progress as Progress).matching_id);
  if (fresh.length === 0) return executions;
  const isOurs = deps.network.iccids === 'ours';
  const iccids = isOurs ? await allotIccids(deps.db, fresh.length) : [];
  const at = new Date(deps.clock.nowMs());
  // When the ICCIDs run out, the remaining orders get no allotment and fail when they are run.
  const allotments = fresh
    .slice(0, isOurs ? iccids.length : fresh.length)
    .map(({ account_id, id, fence }, index) => ({
      account_id,
      id,
      fence,
      iccid: iccids[index] ?? null,
      ...newSealedMatchingId(deps, account_id, id),
      at,
    }));
  const progress = new Map((await allotRows(deps.db, allotments)).map((row) => [row.id, row.progress]));
  // A worker that claimed an order meanwhile has allotted it another ICCID: ours must not reach the network.
  const lost = new Set(allotments.map(({ id }) => id).filter((id) => !progress.has(id)));
  for (const { id, iccid, matchingId } of allotments) {
    const execution = fresh.find((one) => one.id === id);
    if (!execution) continue;
    Object.assign(execution, { iccid, progress: progress.get(id) ?? execution.progress });
    cacheMatchingId(execution, matchingId);
  }
  return executions.filter(({ id }) => !lost.has(id));
}

function newSealedMatchingId({ keyring }: Deps, accountUuid: string, executionUuid: string) {
  const matchingId = newMatchingId();
  return {
    matchingId,
    sealedMatchingId: keyring.seal(matchingId, orderMatchingIdPlace(accountUuid, executionUuid)),
  };
}

// Plaintext matching ids, keyed by the progress that holds them sealed. Saves the process that made one 11 µs per order.
const plainMatchingIds = new WeakMap<object, string>();

export function cacheMatchingId({ progress }: ClaimedExecution, matchingId: string): void {
  plainMatchingIds.set(progress, matchingId);
}

export async function readMatchingId({ keyring }: Deps, execution: HeldExecution): Promise<string | null> {
  const { account_id: accountUuid, id, progress } = execution;
  const { matching_id: sealed } = progress as Progress;
  if (sealed === undefined) return null;
  return plainMatchingIds.get(progress) ?? keyring.open(sealed, orderMatchingIdPlace(accountUuid, id));
}
