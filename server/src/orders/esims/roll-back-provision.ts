import { UnreadableSecret } from '../../platform/secrets/keyring.ts';
import {
  callId,
  type Deps,
  type ExecutionError,
  type HeldExecution,
  type RunOutcome,
  sentFlag,
} from '../executions/runner.ts';
import { noteChoices, readMatchingId } from './allot.ts';
import { endFailedOrder, orderIds, type Returns } from './end-failed-order.ts';
import type { IccidSource } from './iccid.ts';
import {
  isUnconfirmed,
  mayBeReserved,
  mayHaveReserved,
  type OrderInput,
  type Progress,
} from './reservation.ts';

const done: RunOutcome = { kind: 'done' };

/**
 * Cancels the profile that the network may have reserved, then fails the order. The verdict is stored first: a resumed
 * attempt must neither confirm a profile that may already be canceled, nor report another cause.
 */
export async function rollBackAndFail(
  deps: Deps,
  execution: HeldExecution,
  error: ExecutionError,
  { belongsToOther = false, returns }: Ending = {},
): Promise<RunOutcome> {
  const { iccid } = execution;
  if (iccid !== null && mayHaveReserved(deps.network, execution)) {
    // `is_ordered` may be known to this process only.
    const decided: Progress = {
      verdict: error,
      is_ordered: true,
      ...(belongsToOther && { is_closed: true }),
    };
    noteChoices(deps, execution);
    if (!(await execution.save(decided))) return done;
    const canceled = belongsToOther ? null : await cancelProfile(deps, execution, iccid);
    if (canceled?.kind === 'failed') return canceled;
    if (canceled?.kind === 'done' && !(await execution.save({ is_closed: true } satisfies Progress)))
      return done;
  }
  await failOrder(deps, execution, error, returns);
  return done;
}

type Ending = { belongsToOther?: boolean; returns?: Returns | undefined };

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

/** Tries to cancel the profile, and fails the order either way. */
export async function failAfterLastAttempt(
  deps: Deps,
  execution: HeldExecution,
  last: ExecutionError,
  giveBack: IccidSource['giveBack'],
): Promise<void> {
  const isUnknown = execution.iccid === null && execution.progress[sentFlag('order')] === true;
  const { verdict = last } = execution.progress as Progress;
  const error = isUnknown ? outcomeUnknown(execution, last) : verdict;
  const isUnused = !mayHaveReserved(deps.network, execution) && !(execution.progress as Progress).is_closed;
  const returns = giveBack && isUnused ? ({ giveBack, state: 'free' } as const) : undefined;
  const outcome = await rollBackAndFail(deps, execution, error, { returns }).catch(tolerateUnreadable);
  if (outcome.kind === 'failed') await failOrder(deps, execution, error);
}

/** A profile cannot be canceled without its matching id, so a retry would not help. */
function tolerateUnreadable(error: unknown): { kind: 'failed' } {
  if (error instanceof UnreadableSecret) return { kind: 'failed' };
  throw error;
}

/** The network may have reserved a profile for this order, and only the network knows which one. */
function outcomeUnknown(execution: HeldExecution, last: ExecutionError): ExecutionError {
  const id = callId(execution, 'order');
  return {
    ...last,
    code: 'outcome_unknown',
    message: `${last.message} It is unknown whether the network has reserved a profile: the operator should look up call ${id} at the network first.`,
    upstream: { ...last.upstream, function_call_identifier: id },
    retryable: false,
  };
}

/** Ends the execution and its eSIM, and tells the operator if the network may still have a profile for it. */
async function failOrder(
  deps: Deps,
  execution: HeldExecution,
  error: ExecutionError,
  returns?: Returns,
): Promise<void> {
  const isOurs = await deps.db.transaction((tx) => endFailedOrder(tx, deps, execution, error, returns));
  if (!isOurs) return;
  deps.onOutcome(execution.type, 'failed');
  if (error.code !== 'outcome_unknown' && !mayBeReserved(execution.progress)) return;
  const call = { function_call_identifier: callId(execution, 'order') };
  deps.onStranded({
    ...orderIds(execution),
    iccid: execution.iccid,
    code: error.code,
    ...call,
    ...error.upstream,
  });
}
