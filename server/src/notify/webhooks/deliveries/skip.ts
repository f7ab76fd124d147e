import type { InputOf, Operations } from '@simplane/contract';
import { recordAudit } from '../../../accounts/audit/record.ts';
import type { WriteContext } from '../../../accounts/context.ts';
import { AppError } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { type OrderKey, promoteAndAnnounce } from '../ordered/promote.ts';
import { requireDelivery } from './get.ts';
import { presentDelivery } from './present.ts';
import { withAttempts } from './sql/deliveries.ts';
import { type CanceledDelivery, cancelDelivery } from './sql/queue.ts';

/** Cancels a pending delivery. On an ordered endpoint, the next one of its eSIM is sent. */
export async function skipDelivery(
  ctx: WriteContext,
  { params }: InputOf<Operations['skipDelivery']>,
): Promise<Outcome> {
  const unblocked: OrderKey[] = [];
  const accountUuid = ctx.account.uuid;
  const outcome = await runOnce(ctx, async (tx) => {
    const canceled = await cancelPending(ctx, tx, params.id);
    const { endpoint_id: endpointUuid, order_key: iccid, ...row } = canceled;
    if (iccid !== null) unblocked.push({ accountUuid, endpointUuid, iccid });
    const [delivery] = await withAttempts(tx, accountUuid, [{ ...row, endpoint_id: endpointUuid }]);
    if (!delivery) throw new Error('withAttempts returns each row');
    await recordAudit(tx, ctx, {
      accountUuid,
      action: 'delivery.skipped',
      target: { type: 'delivery', id: params.id },
    });
    return ctx.render(presentDelivery(delivery));
  });
  // After the commit. If it fails, or the process dies here, the chore of the workers does it a moment later.
  await promoteAndAnnounce(ctx, unblocked).catch(() => {});
  return outcome;
}

async function cancelPending(ctx: WriteContext, tx: Queryable, id: string): Promise<CanceledDelivery> {
  // Between two statements it may move from the blocked ones to the queue, and from there to the history.
  for (let attempt = 0; attempt < 3; attempt++) {
    const { id: uuid, status } = await requireDelivery(tx, ctx.account.uuid, id);
    if (status !== 'pending') throw alreadyEnded(status);
    const canceled = await cancelDelivery(tx, ctx.account.uuid, { uuid, at: new Date(ctx.clock.nowMs()) });
    if (canceled) return canceled;
  }
  throw new AppError(
    'state_conflict',
    'This delivery is being sent right now. Retry when the attempt has ended.',
  );
}

function alreadyEnded(status: string): AppError {
  return new AppError('state_conflict', `This delivery is ${status} already, so there is nothing to skip.`);
}
