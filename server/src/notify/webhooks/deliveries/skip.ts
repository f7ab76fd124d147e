import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { type AppError, conflict } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { promoteAndAnnounce } from '../ordered/promote.ts';
import { requireDelivery } from './get.ts';
import { presentDelivery } from './present.ts';
import { withAttempts } from './sql/deliveries.ts';
import { type CanceledDelivery, cancelDelivery } from './sql/queue.ts';

/** Cancels a pending delivery. On an ordered endpoint, the next one of its eSIM is sent. */
export async function skipDelivery(tx: Queryable, ctx: Context, { params }: InputFor<'skipDelivery'>) {
  const accountUuid = ctx.account.uuid;
  const canceled = await cancelPending(ctx, tx, params.id);
  const { endpoint_id: endpointUuid, order_key: iccid, ...row } = canceled;
  const [delivery] = await withAttempts(tx, accountUuid, [{ ...row, endpoint_id: endpointUuid }]);
  if (!delivery) throw new Error('withAttempts returns each row');
  const unblocked = iccid === null ? [] : [{ accountUuid, endpointUuid, iccid }];
  return {
    body: presentDelivery(delivery),
    // If it fails, or the process dies before it, the chore of the workers does it a moment later.
    afterCommit: () => promoteAndAnnounce(ctx, unblocked).catch(() => {}),
  };
}

async function cancelPending(ctx: Context, tx: Queryable, id: string): Promise<CanceledDelivery> {
  // Between two statements it may move from the blocked ones to the queue, and from there to the history.
  for (let attempt = 0; attempt < 3; attempt++) {
    const { id: uuid, status } = await requireDelivery(tx, ctx.account.uuid, id);
    if (status !== 'pending') throw alreadyEnded(status);
    const canceled = await cancelDelivery(tx, ctx.account.uuid, { uuid, at: new Date(ctx.clock.nowMs()) });
    if (canceled) return canceled;
  }
  throw conflict('This delivery is being sent right now. Retry when the attempt has ended.');
}

function alreadyEnded(status: string): AppError {
  return conflict(`This delivery is ${status} already, so there is nothing to skip.`);
}
