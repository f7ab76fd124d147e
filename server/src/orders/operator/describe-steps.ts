import type { ExecutionType, OperatorExecution } from '@simplane/contract';
import type { LastError } from '../executions/last-error.ts';
import { callId, sentFlag } from '../executions/runner.ts';
import type { AnyExecutionRow } from './sql/executions.ts';

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
export function describeSteps({ id, type, status, progress }: AnyExecutionRow): Step[] {
  const { last_error: lastError } = progress as { last_error?: LastError };
  return stepsOf[type].flatMap(({ name, provesDone, isUndo }): Step[] => {
    const isSent = progress[sentFlag(name)] === true;
    const isDone =
      (provesDone !== undefined && progress[provesDone] === true && (!isUndo || isSent)) ||
      (status === 'succeeded' && isSent && !isUndo);
    const isFailed = lastError?.step === name;
    if (!isDone && !isFailed && !isSent) return [];
    const shown = isDone ? 'done' : isFailed ? 'failed' : 'sent';
    return [{ name, function_call_identifier: callId({ id }, name), status: shown }];
  });
}
