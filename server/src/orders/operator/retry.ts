import { type InputFor, idPrefixes } from '@simplane/contract';
import { recordAudit } from '../../accounts/audit/record.ts';
import type { Author, OperatorContext } from '../../accounts/context.ts';
import { type AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { requireAnyExecution } from './get.ts';
import { presentForOperator } from './present.ts';
import { type AnyExecutionRow, lockFailed, makeExecutionDue } from './sql/executions.ts';
import { startRetry } from './start-retry.ts';

export async function retryExecution(
  tx: Queryable,
  ctx: OperatorContext,
  { params }: InputFor<'retryExecution'>,
) {
  const execution = presentForOperator(await retryById(tx, ctx, params.id));
  return {
    body: execution,
    location: `/v1/operator/executions/${execution.id}`,
    changes: null,
    afterCommit: () => ctx.signals.announce('executions'),
  };
}

/** Starts a new execution in place of a failed one, or makes a waiting one due. Returns the one that will run. */
export async function retryById(tx: Queryable, deps: Author, id: string): Promise<AnyExecutionRow> {
  const row = await requireAnyExecution(tx, id);
  if (row.status === 'succeeded')
    throw conflict('The execution has succeeded, so there is nothing to retry.');
  const retriedBy = row.status === 'failed' ? await startInPlaceOf(tx, deps, row) : null;
  if (retriedBy === null && !(await makeExecutionDue(tx, row.account_id, row.id))) throw isRunning();
  const next = retriedBy === null ? id : idOfUuid(idPrefixes.execution, retriedBy);
  await recordAudit(tx, deps, {
    accountUuid: row.account_id,
    action: 'execution.retried',
    target: { type: 'execution', id },
    changes: retriedBy === null ? { next_attempt_at: 'now' } : { retried_by: next },
  });
  return requireAnyExecution(tx, next);
}

async function startInPlaceOf(tx: Queryable, deps: Author, row: AnyExecutionRow): Promise<string> {
  const failed = await lockFailed(tx, row.account_id, row.id);
  if (!failed) throw isRunning();
  const { retried_by: retriedBy, is_resolved: isResolved, input } = failed;
  if (retriedBy !== null) {
    const id = idOfUuid(idPrefixes.execution, retriedBy);
    throw conflict(`The execution was already retried, as ${id}. Retry that one if it has failed.`);
  }
  if (row.error?.code === 'canceled')
    throw conflict('The account canceled the execution itself, so it cannot be retried.');
  if (row.error?.code === 'superseded')
    throw conflict('A newer change of the eSIM replaced the execution, so it cannot be retried.');
  if (row.error?.code === 'outcome_unknown' && !isResolved) throw isUnknown();
  requireNoCode(input);
  return startRetry(tx, deps, row, { input });
}

/** The code that the account's customer knows was deleted when the order failed. */
export function requireNoCode(input: { has_confirmation_code?: true }): void {
  if (!input.has_confirmation_code) return;
  throw conflict(
    'The order had a confirmation code, which was deleted when it failed. The account has to order again.',
  );
}

function isUnknown(): AppError {
  return conflict(
    'It is unknown whether the network has reserved a profile for this execution, so a retry could reserve a second one. Resolve it first.',
  );
}

function isRunning(): AppError {
  return conflict(
    'A worker is running the execution right now. Look at it again when it waits or has ended.',
  );
}
