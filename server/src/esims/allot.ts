import type { ClaimedExecution, Deps, HeldExecution } from '../executions/worker.ts';
import { uuidText } from '../ids/uuid.ts';
import { orderMatchingIdPlace } from '../secrets/sealed-places.ts';
import { newMatchingId } from './activation-code.ts';
import type { AllotIccids } from './iccid.ts';
import type { Progress } from './reservation.ts';
import { allotRows } from './sql.ts';

/** Gives new orders a matching id, and an ICCID where the numbers are ours. Returns the executions that are still held. */
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
  // Orders for which no number is left go on without an allotment, and fail when they are run.
  const allotments = fresh
    .slice(0, isOurs ? iccids.length : fresh.length)
    .map(({ account_id, id, fence }, index) => ({
      account_id,
      id,
      fence,
      esimUuid: uuidText(deps.newUuid()),
      iccid: iccids[index] ?? null,
      ...newSealedMatchingId(deps, account_id, id),
      at,
    }));
  const progress = new Map((await allotRows(deps.db, allotments)).map((row) => [row.id, row.progress]));
  // Another worker that took an order over meanwhile has allotted it other numbers: it must not reach the network with ours.
  const lost = new Set(allotments.map(({ id }) => id).filter((id) => !progress.has(id)));
  for (const { id, iccid, matchingId } of allotments) {
    const execution = fresh.find((one) => one.id === id);
    if (!execution) continue;
    Object.assign(execution, { iccid, progress: progress.get(id) ?? execution.progress });
    keepMatchingId(execution, matchingId);
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

// Matching ids by the progress that holds them sealed: the process that made one need not open it (11 µs an order).
const inClear = new WeakMap<object, string>();

export function keepMatchingId({ progress }: ClaimedExecution, matchingId: string): void {
  inClear.set(progress, matchingId);
}

export async function readMatchingId({ keyring }: Deps, execution: HeldExecution): Promise<string | null> {
  const { account_id: accountUuid, id, progress } = execution;
  const { matching_id: sealed } = progress as Progress;
  if (sealed === undefined) return null;
  return inClear.get(progress) ?? keyring.open(sealed, orderMatchingIdPlace(accountUuid, id));
}
