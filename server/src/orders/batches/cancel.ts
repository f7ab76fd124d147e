import type { InputFor } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { cancelTaken } from '../esims/cancel-execution.ts';
import { takeUnsentOfBatch } from '../executions/runner.ts';
import { requireBatch } from './get.ts';
import { presentBatch } from './present.ts';

/** Cancels the orders of a batch that have not reached the network, as a cancellation of each would. */
export async function cancelBatch(tx: Queryable, ctx: Context, { params }: InputFor<'cancelBatch'>) {
  const accountUuid = ctx.account.uuid;
  const { id: batchUuid } = await requireBatch(tx, accountUuid, params.id);
  const taken = await takeUnsentOfBatch(tx, accountUuid, batchUuid);
  await cancelTaken(tx, ctx, taken);
  return {
    body: presentBatch(await requireBatch(tx, accountUuid, params.id)),
    changes: taken.length > 0 ? { canceled: taken.length } : null,
    afterCommit: () => ctx.signals.announce('deliveries', accountUuid),
  };
}
