import type { Network } from '../../network/port.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { orderMatchingIdPlace } from '../../platform/secrets/sealed-places.ts';
import type { ClaimedExecution, Deps, HeldExecution } from '../executions/runner.ts';
import { newMatchingId } from './activation-code.ts';
import type { IccidSource } from './iccid.ts';
import type { Progress } from './reservation.ts';
import { allotRows } from './sql/orders.ts';

/** Whether the network can be called for the order. A matching id must be stored first only if the network forgets calls. */
export function isAllotted({ forgetsCalls }: Network, { iccid, progress }: ClaimedExecution): boolean {
  return (progress as Progress).matching_id !== undefined || (!forgetsCalls && iccid !== null);
}

/**
 * Allots a matching id to new orders, and an ICCID if we choose the ICCIDs and the claim had none to allot. Returns the
 * executions this worker still holds.
 */
export async function allot(
  deps: Deps,
  executions: ClaimedExecution[],
  iccidSource: IccidSource,
): Promise<ClaimedExecution[]> {
  const fresh = executions.filter((execution) => !isAllotted(deps.network, execution));
  if (fresh.length === 0) return executions;
  const { allotments, stored } = await deps.db.transaction((tx) => store(tx, deps, fresh, iccidSource));
  for (const { id, matchingId } of allotments) {
    const execution = fresh.find((one) => one.id === id);
    const row = stored.get(id);
    if (!execution || !row) continue;
    Object.assign(execution, { iccid: row.iccid, progress: row.progress });
    cacheMatchingId(execution, matchingId);
  }
  // A worker that claimed an order meanwhile has allotted it another ICCID: ours must not reach the network.
  const lost = new Set(allotments.map(({ id }) => id).filter((id) => !stored.has(id)));
  return executions.filter(({ id }) => !lost.has(id));
}

/** In one transaction: an ICCID that is taken from the operator's ranges and stored with no order would be lost. */
async function store(tx: Queryable, deps: Deps, fresh: ClaimedExecution[], iccidSource: IccidSource) {
  const isOurs = deps.network.iccids === 'ours';
  const iccids = isOurs ? await iccidSource.allot(tx, fresh.length) : [];
  // When the ICCIDs run out, the remaining orders get no allotment and fail when they are run.
  const allotments = fresh
    .slice(0, isOurs ? iccids.length : fresh.length)
    .map(({ account_id, id, fence }, index) => ({
      account_id,
      id,
      fence,
      iccid: iccids[index] ?? null,
      ...newSealedMatchingId(deps, account_id, id),
    }));
  const stored = new Map((await allotRows(tx, allotments)).map((row) => [row.id, row]));
  for (const { id, iccid } of allotments) {
    if (iccid !== null && !stored.has(id)) await iccidSource.giveBack?.(tx, iccid, 'free');
  }
  return { allotments, stored };
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

/** The matching id of an order. Null if there is none yet and the network forgets calls: then it must be stored first. */
export async function readMatchingId(
  { keyring, network }: Deps,
  execution: HeldExecution,
): Promise<string | null> {
  const { account_id: accountUuid, id, progress } = execution;
  const plain = plainMatchingIds.get(progress);
  if (plain !== undefined) return plain;
  const { matching_id: sealed } = progress as Progress;
  if (sealed !== undefined) return keyring.open(sealed, orderMatchingIdPlace(accountUuid, id));
  if (network.forgetsCalls) return null;
  // After a crash, a network that does not forget calls answers the repeated confirmation with the first one's matching id.
  const made = newMatchingId();
  plainMatchingIds.set(progress, made);
  return made;
}

/**
 * Notes the attempt's matching id and profile type, which are stored if the attempt fails. The next attempt requests the same
 * ones, and a rollback proves by the matching id that the profile is ours.
 */
export function noteChoices({ keyring }: Deps, execution: HeldExecution): void {
  const { account_id: accountUuid, id, profile_type, progress } = execution;
  const chosen = progress as Progress;
  const plain = plainMatchingIds.get(progress);
  if (chosen.profile_type === undefined) execution.noteProgress({ profile_type } satisfies Progress);
  if (plain === undefined || chosen.matching_id !== undefined) return;
  const matching_id = keyring.seal(plain, orderMatchingIdPlace(accountUuid, id));
  execution.noteProgress({ matching_id } satisfies Progress);
}
