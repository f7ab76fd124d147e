import { canceledMessage, type Execution, type InputOf, type Operations } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { AppError } from '../../platform/app-error.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { finish } from '../executions/finish.ts';
import { requireExecution } from '../executions/get.ts';
import { presentExecution } from '../executions/present.ts';
import { type ClaimedExecution, type ExecutionError, takeUnsent } from '../executions/runner.ts';
import { endFailedOrder } from './end-failed-order.ts';
import { storeReturned } from './sql/iccids.ts';

/** Ends an execution that has not reached the network. An order of an eSIM fails as any other, with its event. */
export async function cancelExecution(
  tx: Queryable,
  ctx: Context,
  { params }: InputOf<Operations['cancelExecution']>,
) {
  const accountUuid = ctx.account.uuid;
  const { id: uuid } = await requireExecution(tx, accountUuid, params.id);
  const taken = await takeUnsent(tx, accountUuid, uuid);
  if (taken) await end(ctx, tx, taken);
  const execution = presentExecution(await requireExecution(tx, accountUuid, params.id));
  if (execution.error?.code !== 'canceled') throw tooLate(execution);
  return {
    body: execution,
    changes: taken ? {} : null,
    afterCommit: () => ctx.signals.announce('deliveries', accountUuid),
  };
}

const canceled: ExecutionError = { code: 'canceled', message: canceledMessage, retryable: true };

async function end(ctx: Context, tx: Queryable, execution: ClaimedExecution): Promise<void> {
  if (execution.type !== 'esim.provision') {
    await finish(tx, ctx, execution, { error: canceled, at: new Date(ctx.clock.nowMs()) });
    return;
  }
  // An order that never reached the network has an ICCID only from the operator's ranges.
  const returns = { giveBack: storeReturned, state: 'free' } as const;
  await endFailedOrder(tx, ctx, execution, canceled, execution.iccid === null ? undefined : returns);
}

function tooLate({ status }: Execution): AppError {
  const message =
    status === 'succeeded' || status === 'failed'
      ? `The execution has already ${status}, so there is nothing to cancel.`
      : 'The execution may have reached the network, so it can no longer be canceled. Wait until it has ended; an eSIM that you do not need can then be terminated.';
  return new AppError('state_conflict', message);
}
