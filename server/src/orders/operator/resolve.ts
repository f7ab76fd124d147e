import { type InputFor, idPrefixes } from '@simplane/contract';
import { actorOf, recordAudit } from '../../accounts/audit/record.ts';
import type { Author, OperatorContext } from '../../accounts/context.ts';
import { AppError, conflict, invalid } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { Keyring } from '../../platform/secrets/keyring.ts';
import { adoptedProgress, iccidInUse, requireLostIccid } from '../esims/adopt-profile.ts';
import { requireAnyExecution } from './get.ts';
import { presentForOperator } from './present.ts';
import { requireNoCode } from './retry.ts';
import { type AnyExecutionRow, closeFailed, insertResolution, lockFailed } from './sql/executions.ts';
import { startRetry } from './start-retry.ts';

type Deps = Author & { keyring: Keyring; requiresCheckDigit: boolean };
type Body = InputFor<'resolveExecution'>['body'];
type Decision =
  | { outcome: 'not_reserved'; action: null; iccid: null }
  | { outcome: 'reserved'; action: 'adopt' | 'cancel'; iccid: string };

export async function resolveExecution(
  tx: Queryable,
  ctx: OperatorContext,
  { params, body }: InputFor<'resolveExecution'>,
) {
  return {
    body: presentForOperator(await resolveById(tx, ctx, params.id, readDecision(body))),
    changes: null,
    afterCommit: () => ctx.signals.announce('executions'),
  };
}

/** The body's fields depend on each other. */
export function readDecision({ outcome, iccid, then }: Body): Decision {
  if (outcome === 'not_reserved') {
    const param = iccid !== undefined ? 'iccid' : 'then';
    if (iccid === undefined && then === undefined) return { outcome, action: null, iccid: null };
    throw invalid(param, `${param} is only for the outcome reserved: leave it out.`);
  }
  if (iccid === undefined || then === undefined) {
    const param = iccid === undefined ? 'iccid' : 'then';
    throw new AppError('parameter_missing', `${param} is required for the outcome reserved.`, { param });
  }
  return { outcome, action: then, iccid };
}

/** Decides an execution whose outcome is unknown. Returns it as it is afterwards. */
export async function resolveById(
  tx: Queryable,
  deps: Deps,
  id: string,
  decision: Decision,
): Promise<AnyExecutionRow> {
  const row = await requireAnyExecution(tx, id);
  const failed = row.status === 'failed' && (await lockFailed(tx, row.account_id, row.id));
  if (!failed) throw notFailed(row);
  if (row.error?.code !== 'outcome_unknown') throw notUnknown(row);
  if (failed.is_resolved) throw conflict('The execution was already resolved. A resolution is final.');
  if (decision.iccid !== null) {
    const answered = row.error.upstream?.['iccid'];
    const { requiresCheckDigit } = deps;
    await requireLostIccid(tx, decision.iccid, { answered, requiresCheckDigit });
  }
  const retriedBy = await write(tx, deps, row, failed, decision).catch((error: { code?: string }) => {
    // Another transaction has taken the ICCID since the check.
    if (error.code === '23505' && decision.iccid !== null) throw iccidInUse(decision.iccid);
    throw error;
  });
  const { outcome, action, iccid } = decision;
  await recordAudit(tx, deps, {
    accountUuid: row.account_id,
    action: 'execution.resolved',
    target: { type: 'execution', id },
    changes: {
      outcome,
      ...(iccid !== null && { iccid, then: action }),
      ...(retriedBy !== null && { retried_by: idOfUuid(idPrefixes.execution, retriedBy) }),
    },
  });
  return requireAnyExecution(tx, id);
}

type Failed = NonNullable<Awaited<ReturnType<typeof lockFailed>>>;

/** Returns the uuid of the execution that adopts the profile; null if none does. */
async function write(
  tx: Queryable,
  deps: Deps,
  row: AnyExecutionRow,
  { input, progress }: Failed,
  { outcome, action, iccid }: Decision,
): Promise<string | null> {
  const { clock, keyring } = deps;
  const accountUuid = row.account_id;
  await insertResolution(tx, {
    ...{ accountUuid, executionUuid: row.id, outcome, action, iccid },
    decided_by: actorOf(deps),
    at: new Date(clock.nowMs()),
  });
  if (action !== 'adopt') {
    await closeFailed(tx, { accountUuid, uuid: row.id, retriedBy: null });
    return null;
  }
  requireNoCode(input);
  return startRetry(tx, deps, row, {
    input,
    iccid,
    progress: (executionUuid) => adoptedProgress(keyring, { accountUuid, executionUuid, earlier: progress }),
  });
}

function notFailed({ status }: AnyExecutionRow): AppError {
  return conflict(
    status === 'succeeded'
      ? 'The execution has succeeded, so there is nothing to resolve.'
      : 'The execution has not ended yet. Resolve it only if it fails with outcome_unknown.',
  );
}

function notUnknown({ error }: AnyExecutionRow): AppError {
  return conflict(`The execution failed with ${error?.code}: only outcome_unknown needs to be resolved.`);
}
