import type { TimelineStep } from '@simplane/contract';
import { type ExecutionRow, presentExecution } from '../../orders/executions/present.ts';
import { unixSeconds } from '../../platform/clock.ts';

/** What is stored about an execution, as steps. The times of single attempts are not stored. */
export function stepsOf(row: ExecutionRow): TimelineStep[] {
  const { status, attempts, error, waiting_for, next_attempt_at, finished_at } = presentExecution(row);
  const steps: TimelineStep[] = [{ name: 'accepted', at: unixSeconds(row.created_at) }];
  if (attempts > 0) steps.push({ name: 'running', at: null, attempts });
  if (waiting_for !== null) steps.push({ name: 'waiting', at: next_attempt_at, message: waiting_for });
  if (status === 'succeeded') steps.push({ name: status, at: finished_at });
  if (status === 'failed') {
    steps.push({
      name: status,
      at: finished_at,
      ...(error && { error_code: error.code, message: error.message }),
    });
  }
  return steps;
}
