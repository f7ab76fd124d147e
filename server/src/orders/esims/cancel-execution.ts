import { canceledMessage, type Execution, type InputFor } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { type AppError, conflict } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { finish } from '../executions/finish.ts';
import { requireExecution } from '../executions/get.ts';
import { presentExecution } from '../executions/present.ts';
import { type ClaimedExecution, type ExecutionError, takeOver, takeUnsent } from '../executions/runner.ts';
import { isProposed, withdraw } from './await-core.ts';
import { endFailedOrder, failureEvent } from './end-failed-order.ts';
import { lockEsim } from './sql/esims.ts';
import { failWithoutEsim } from './sql/fail-without-esim.ts';
import { storeReturned } from './sql/iccids.ts';

/** Ends an execution that has not reached the network. An order of an eSIM fails as any other, with its event. */
export async function cancelExecution(tx: Queryable, ctx: Context, { params }: InputFor<'cancelExecution'>) {
  const accountUuid = ctx.account.uuid;
  const { id: uuid, type, iccid } = await requireExecution(tx, accountUuid, params.id);
  const isTaken =
    (type !== 'esim.provision' &&
      type !== 'bundle.add' &&
      iccid !== null &&
      (await cancelWaiting(ctx, tx, { uuid, iccid }))) ||
    (await cancelUnsent(ctx, tx, uuid));
  const execution = presentExecution(await requireExecution(tx, accountUuid, params.id));
  if (execution.error?.code !== 'canceled') throw tooLate(execution);
  return {
    body: execution,
    changes: isTaken ? {} : null,
    afterCommit: () => ctx.signals.announce('deliveries', accountUuid),
  };
}

const canceled: ExecutionError = { code: 'canceled', message: canceledMessage, retryable: true };

type Deps = Pick<Context, 'clock' | 'newUuid'>;

/** Cancels executions that the caller has taken. Those without an ICCID, nearly all, end in one statement. */
export async function cancelTaken(
  tx: Queryable,
  ctx: Deps,
  taken: ClaimedExecution[],
  error = canceled,
): Promise<void> {
  for (const execution of taken) if (execution.iccid !== null) await end(ctx, tx, execution, error);
  const rows = taken
    .filter(({ iccid }) => iccid === null)
    .map((execution) => ({ ...execution, event: failureEvent(ctx, execution, error) }));
  await failWithoutEsim(tx, rows, { error, at: new Date(ctx.clock.nowMs()) });
}

async function cancelUnsent(ctx: Context, tx: Queryable, uuid: string): Promise<boolean> {
  const taken = await takeUnsent(tx, ctx.account.uuid, uuid);
  if (taken) await end(ctx, tx, taken, canceled);
  return taken !== null;
}

/** Takes a suspension or resumption back that waits for the core. A termination is final. */
async function cancelWaiting(
  ctx: Context,
  tx: Queryable,
  { uuid, iccid }: { uuid: string; iccid: string },
): Promise<boolean> {
  // First, as everywhere: the execution's row is written under the eSIM's lock.
  const esim = await lockEsim(tx, ctx.account.uuid, iccid);
  if (!esim || !isProposed(esim, { id: uuid }) || esim.pending_change?.change === 'terminate') return false;
  const taken = await takeOver(tx, ctx.account.uuid, uuid);
  if (!taken) return false;
  await withdraw(tx, ctx, esim);
  await finish(tx, ctx, taken, { error: takenBack, at: new Date(ctx.clock.nowMs()) });
  return true;
}

const takenBack: ExecutionError = {
  code: 'canceled',
  message:
    'The account canceled it before the operator’s core confirmed it. The eSIM keeps its status; if the core has the change, it is taken back.',
  retryable: true,
};

async function end(
  ctx: Deps,
  tx: Queryable,
  execution: ClaimedExecution,
  error: ExecutionError,
): Promise<void> {
  if (execution.type !== 'esim.provision') {
    await finish(tx, ctx, execution, { error, at: new Date(ctx.clock.nowMs()) });
    return;
  }
  // An order that never reached the network has an ICCID only from the operator's ranges.
  const returns = { giveBack: storeReturned, state: 'free' } as const;
  await endFailedOrder(tx, ctx, execution, error, execution.iccid === null ? undefined : returns);
}

function tooLate({ status }: Execution): AppError {
  const message =
    status === 'succeeded' || status === 'failed'
      ? `The execution has already ${status}, so there is nothing to cancel.`
      : 'The execution may have reached the network, so it can no longer be canceled. Wait until it has ended; an eSIM that you do not need can then be terminated.';
  return conflict(message);
}
