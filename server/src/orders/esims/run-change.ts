import { idPrefixes } from '@simplane/contract';
import type { Call, Done, Reply } from '../../network/port.ts';
import { emit } from '../../notify/events/emit.ts';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { esimMatchingIdPlace, orderMatchingIdPlace } from '../../platform/secrets/sealed-places.ts';
import { ClaimLost } from '../executions/hold.ts';
import {
  type Deps,
  type ExecutionError,
  errorOf,
  type HeldExecution,
  type Runner,
  type RunOutcome,
} from '../executions/runner.ts';
import { verdictOf } from '../service/verdict.ts';
import { refreshService, statusWanted } from '../service/write.ts';
import { isProposed, propose, withdraw } from './await-core.ts';
import type { LockedEsim } from './lock.ts';
import { wasDownloaded } from './profile-state.ts';
import { isUnconfirmed, mayBeReserved, type Progress } from './reservation.ts';
import { changeStatus, type EsimRow, findEsim, findOrder, lockEsim, setPendingChange } from './sql/esims.ts';
import { terminateQueued } from './sql/orders.ts';
import { canTransition } from './state.ts';

type Change = 'suspend' | 'resume' | 'terminate';

const eventOf = { suspend: 'esim.suspended', resume: 'esim.resumed', terminate: 'esim.terminated' } as const;

/** Runs in the same transaction, under the eSIM's lock. */
type OnChanged = (tx: Queryable, esim: LockedEsim, deps: Deps & { executionId: string }) => Promise<void>;

/** Suspend, resume and terminate: calls the network, then writes the change and its event. */
export function createChangeRunner(change: Change, onChanged?: OnChanged): Runner {
  return {
    // The operator's core suspends and resumes.
    ...(change === 'terminate' && { isPausable: true }),
    async run(deps, execution) {
      if (deps.core === 'state' && (await isForCore(deps, execution, change))) {
        await follow(deps, execution, change, onChanged);
        return done;
      }
      const reply = await execution.call(change, (call) => send(deps, change, call, execution));
      if (reply.kind === 'failed') return reply;
      if (reply.kind === 'refused') await fail(deps, execution, errorOf(reply.reason));
      else await settle(deps, execution, change, onChanged);
      return done;
    },
    fail,
  };
}

const done: RunOutcome = { kind: 'done' };
const nothingToDo: Reply<Done> = { kind: 'done', result: {}, isLocal: true };

async function send(deps: Deps, change: Change, call: Call, execution: HeldExecution): Promise<Reply<Done>> {
  const { network, db } = deps;
  const iccid = execution.iccid as string;
  if (change !== 'terminate') return network[change]({ ...call, iccid });
  const esim = await findEsim(db, execution.account_id, iccid);
  // The network cannot cancel a profile that a device has downloaded.
  if (esim && wasDownloaded(esim.profile_state)) return nothingToDo;
  const isOrdering = esim?.status === 'provisioning' || esim?.status === 'failed';
  const order = isOrdering ? await findOrder(db, esim) : null;
  const progress = order?.progress ?? {};
  // A profile that is not reserved for the failed order may belong to someone else.
  if (esim?.status === 'failed' && !mayBeReserved(progress)) return nothingToDo;
  return network.cancel({
    ...call,
    iccid,
    matchingId: esim && (await readMatchingId(deps, esim, order)),
    eid: esim?.eid ?? null,
    isUnconfirmed: isUnconfirmed(progress),
  });
}

/** The eSIM's matching id. An eSIM that was never provisioned has none, so its order's is used. */
async function readMatchingId(
  { keyring }: Deps,
  { account_id: accountUuid, iccid, matching_id: own }: EsimRow,
  order: Awaited<ReturnType<typeof findOrder>>,
): Promise<string | null> {
  if (own !== null) return keyring.open(own, esimMatchingIdPlace(accountUuid, iccid));
  const { matching_id: allotted } = (order?.progress ?? {}) as Progress;
  if (!order || allotted === undefined) return null;
  return keyring.open(allotted, orderMatchingIdPlace(accountUuid, order.uuid));
}

/** The core decides on suspensions and resumptions, and hears of a termination once it is written. */
async function isForCore({ db }: Deps, execution: HeldExecution, change: Change): Promise<boolean> {
  if (change !== 'terminate') return true;
  return isProposed(await findEsim(db, execution.account_id, execution.iccid as string), execution);
}

/** Proposes the change to the core, and ends the execution once the core has it or has refused it. */
function follow(deps: Deps, execution: HeldExecution, change: Change, onChanged?: OnChanged): Promise<void> {
  return deps.db.transaction(async (tx) => {
    let esim = await lockEsim(tx, execution.account_id, execution.iccid as string);
    if (!esim || !(isProposed(esim, execution) || canTransition(change, statusWanted(esim)))) {
      await execution.finish(tx, noLongerPossible(change, esim));
      return;
    }
    if (!isProposed(esim, execution)) esim = await propose(tx, deps, esim, { change, id: execution.id });
    const verdict = await verdictOf(tx, esim);
    if (verdict === null) return execution.waitForCore(tx);
    const error = verdict.kind === 'refused' ? verdict.error : null;
    if (!(await execution.finish(tx, error))) throw new ClaimLost(); // nothing of this is written
    if (error || change === 'terminate') return withdraw(tx, deps, esim);
    await setPendingChange(tx, esim, null);
    const after = await writeChange(tx, deps, esim, { change, execution, onChanged });
    await refreshService(tx, { ...after, pending_change: null }, deps);
  });
}

function settle(deps: Deps, execution: HeldExecution, change: Change, onChanged?: OnChanged): Promise<void> {
  return deps.db.transaction(async (tx) => {
    const before = await lockEsim(tx, execution.account_id, execution.iccid as string);
    const isPossible = before !== null && canTransition(change, before.status);
    const awaitsCore = isPossible && deps.core === 'state';
    if (!awaitsCore && !(await execution.finish(tx, isPossible ? null : noLongerPossible(change, before))))
      return;
    if (!isPossible) return;
    const after = await writeChange(tx, deps, before, { change, execution, onChanged });
    if (!awaitsCore) {
      // Proposed while a core got states, which none does any more.
      if (before.pending_change) await setPendingChange(tx, before, null);
      await refreshService(tx, { ...after, pending_change: null }, deps);
      return;
    }
    await propose(
      tx,
      deps,
      { ...after, pending_change: before.pending_change },
      { change, id: execution.id },
    );
    await execution.waitForCore(tx);
  });
}

type Written = { change: Change; execution: HeldExecution; onChanged: OnChanged | undefined };

/**
 * Changes the status, and with it the bundles, and tells the account. A resumption of an eSIM whose suspension it has superseded finds the
 * status unchanged, and ends with its event all the same.
 */
async function writeChange(
  tx: Queryable,
  deps: Deps,
  before: LockedEsim,
  { change, execution, onChanged }: Written,
): Promise<LockedEsim> {
  const after = (await write(tx, before, change, new Date(deps.clock.nowMs()))) ?? before;
  const executionId = idOfUuid(idPrefixes.execution, execution.id);
  const data = { iccid: after.iccid, execution_id: executionId, product_id: after.product_id };
  const { account_id: accountUuid, reference } = after;
  await emit(tx, [newEvent(deps, { accountUuid, type: eventOf[change], data, reference })]);
  await onChanged?.(tx, after, { ...deps, executionId });
  return after;
}

/** An eSIM whose order is open can only be terminated. */
function write(tx: Queryable, esim: LockedEsim, change: Change, at: Date): Promise<EsimRow | null> {
  return esim.is_queued ? terminateQueued(tx, esim, at) : changeStatus(tx, esim, change, at);
}

async function fail(deps: Deps, execution: HeldExecution, error: ExecutionError): Promise<void> {
  await execution.finish(deps.db, error);
}

function noLongerPossible(change: Change, esim: EsimRow | null): ExecutionError {
  const message = `The eSIM was ${esim?.status ?? 'gone'} when the network answered, so ${change} was no longer possible.`;
  return { code: 'state_conflict', message, retryable: false };
}
