import { type ExecutionType, idPrefixes, type OperatorExecution } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { LastError } from '../executions/last-error.ts';
import { describeWaiting, presentExecution } from '../executions/present.ts';
import { callId, sentFlag } from '../executions/runner.ts';
import type { AnyExecutionRow } from './sql/executions.ts';

export function presentForOperator(row: AnyExecutionRow): OperatorExecution {
  return {
    ...presentExecution(row),
    waiting_for: row.waiting_for && describeWaiting(row.waiting_for, true),
    account_id: idOfUuid(idPrefixes.account, row.account_id),
    leased_until: row.leased_until && unixSeconds(row.leased_until),
    steps: describeSteps(row),
    last_error: presentLastError(row.progress),
    resolution: presentResolution(row),
    failure_group: row.failure_group,
  };
}

function presentLastError({ last_error }: { last_error?: LastError }): OperatorExecution['last_error'] {
  if (!last_error) return null;
  const { step, code, message, upstream, network, at } = last_error;
  return {
    ...{ step, code, message, network: network ?? null, at: unixSeconds(new Date(at)) },
    ...(upstream && { upstream }),
  };
}

function presentResolution({ id, resolution }: AnyExecutionRow): OperatorExecution['resolution'] {
  if (!resolution) return null;
  const { outcome, action, iccid, error, attempts, decided_by, decided_at, closed_at } = resolution;
  return {
    outcome,
    iccid,
    then: action,
    status: closed_at === null ? 'canceling' : error ? 'refused' : 'closed',
    function_call_identifier: action === 'cancel' ? callId({ id }, returnStep) : null,
    attempts,
    error,
    decided_by,
    decided_at: unixSeconds(new Date(decided_at)),
    closed_at: closed_at === null ? null : unixSeconds(new Date(closed_at)),
  };
}

type Step = OperatorExecution['steps'][number];

/** The steps of each type. `provesDone` is set in the progress once the network has confirmed the step. */
const stepsOf: Record<ExecutionType, { name: string; provesDone?: string; isUndo?: true }[]> = {
  'esim.provision': [
    { name: 'order', provesDone: 'is_ordered' },
    { name: 'confirm', provesDone: 'is_confirmed' },
    { name: 'release' },
    { name: 'undo', provesDone: 'is_closed', isUndo: true },
  ],
  'esim.suspend': [{ name: 'suspend' }],
  'esim.resume': [{ name: 'resume' }],
  'esim.terminate': [{ name: 'terminate' }],
  'bundle.add': [{ name: 'top_up' }],
};

/**
 * The calls of an execution, as far as its progress shows them. A network that remembers calls is called again after a crash, so
 * not every step is recorded for it.
 */
function describeSteps({ id, type, status, progress }: AnyExecutionRow): Step[] {
  const { last_error: lastError } = progress as { last_error?: LastError };
  return stepsOf[type].flatMap(({ name, provesDone, isUndo }): Step[] => {
    const isSent = progress[sentFlag(name)] === true;
    const isFailed = lastError?.step === name;
    // An error that was followed by success is of an earlier attempt.
    const isDone =
      (provesDone !== undefined && progress[provesDone] === true && (!isUndo || isSent)) ||
      (status === 'succeeded' && (isSent || isFailed) && !isUndo);
    if (!isDone && !isFailed && !isSent) return [];
    const shown = isDone ? 'done' : isFailed ? 'failed' : 'sent';
    return [{ name, function_call_identifier: callId({ id }, name), status: shown }];
  });
}

/** The step that gives back a profile after an operator's decision; part of its call id. */
export const returnStep = 'return';
