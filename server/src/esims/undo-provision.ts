import { idPrefixes } from '@simplane/contract';
import { emit } from '../events/emit.ts';
import { newEvent } from '../events/new-event.ts';
import {
  type ClaimedExecution,
  callId,
  type Deps,
  type ExecutionError,
  type HeldExecution,
  type RunOutcome,
  sentMark,
} from '../executions/worker.ts';
import { idOfUuid } from '../ids/uuid.ts';
import { UnreadableSecret } from '../secrets/keyring.ts';
import { readMatchingId } from './allot.ts';
import { isUnconfirmed, mayBeHeld, type OrderInput, type Progress } from './reservation.ts';
import { changeStatus } from './sql.ts';

const done: RunOutcome = { kind: 'done' };

/**
 * Cancels the profile that the network may have reserved, then fails the order. The verdict is stored first: an attempt that
 * resumes here must neither confirm a profile that may be canceled already, nor report another cause.
 */
export async function undoAndFail(
  deps: Deps,
  execution: HeldExecution,
  error: ExecutionError,
  isOthers = false,
): Promise<RunOutcome> {
  const { iccid, progress } = execution;
  if (iccid !== null && mayBeHeld(progress)) {
    const decided: Progress = { verdict: error, ...(isOthers && { is_closed: true }) };
    Object.assign(progress, decided);
    if (!(await execution.save(decided))) return done;
    const canceled = isOthers ? null : await cancelProfile(deps, execution, iccid);
    if (canceled?.kind === 'failed') return { kind: 'failed', reason: canceled.reason };
    if (canceled?.kind === 'done' && !(await execution.save({ is_closed: true } satisfies Progress)))
      return done;
  }
  await failOrder(deps, execution, error);
  return done;
}

async function cancelProfile(deps: Deps, execution: HeldExecution, iccid: string) {
  const matchingId = await readMatchingId(deps, execution);
  return execution.call('undo', (call) =>
    deps.network.cancel({
      ...call,
      iccid,
      matchingId,
      eid: (execution.input as OrderInput).eid ?? null,
      isUnconfirmed: isUnconfirmed(execution.progress),
    }),
  );
}

/** Cancels the profile if the network lets us, and fails the order either way. */
export async function failAfterLastAttempt(
  deps: Deps,
  execution: HeldExecution,
  last: ExecutionError,
): Promise<void> {
  const isUnknown = execution.iccid === null && execution.progress[sentMark('order')] === true;
  const { verdict = last } = execution.progress as Progress;
  const error = isUnknown ? outcomeUnknown(execution, last) : verdict;
  const outcome = await undoAndFail(deps, execution, error).catch(unlessUnreadable);
  if (outcome.kind === 'failed') await failOrder(deps, execution, error);
}

/** A profile cannot be canceled without its matching id, now or later. */
function unlessUnreadable(error: unknown): { kind: 'failed' } {
  if (error instanceof UnreadableSecret) return { kind: 'failed' };
  throw error;
}

/** The network may have reserved a profile for this order, and only the network knows which. */
function outcomeUnknown(execution: HeldExecution, last: ExecutionError): ExecutionError {
  const id = callId(execution, 'order');
  return {
    ...last,
    code: 'outcome_unknown',
    message: `${last.message} Whether the network has reserved a profile is not known: the operator should look up the call ${id} there first.`,
    upstream: { ...last.upstream, function_call_identifier: id },
    retryable: false,
  };
}

/** Ends the execution and its eSIM, and writes the event. */
function failOrder(deps: Deps, execution: HeldExecution, error: ExecutionError): Promise<void> {
  return deps.db.transaction(async (tx) => {
    if (!(await execution.finish(tx, error))) return;
    const { iccid } = execution;
    if (iccid !== null) await changeStatus(tx, iccid, 'fail');
    const data = {
      ...(iccid !== null && { iccid }),
      ...orderIds(execution),
      error: { code: error.code, message: error.message },
    };
    await emit(tx, [
      newEvent(deps, { accountUuid: execution.account_id, type: 'esim.provisioning_failed', data }),
    ]);
  });
}

/** What its events name beside the ICCID. */
export function orderIds(execution: ClaimedExecution) {
  return { execution_id: idOfUuid(idPrefixes.execution, execution.id), product_id: execution.product_id };
}
