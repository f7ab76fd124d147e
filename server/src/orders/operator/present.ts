import { idPrefixes, type OperatorExecution } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { LastError } from '../executions/last-error.ts';
import { presentExecution } from '../executions/present.ts';
import { callId } from '../executions/runner.ts';
import { describeSteps } from './describe-steps.ts';
import { returnStep } from './return-step.ts';
import type { AnyExecutionRow } from './sql/executions.ts';

export function presentForOperator(row: AnyExecutionRow): OperatorExecution {
  return {
    ...presentExecution(row),
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
