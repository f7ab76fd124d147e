import type { WriteContext } from '../../context.ts';
import type { Outcome } from '../../idempotency/outcome.ts';
import { runOnce } from '../../idempotency/run-once.ts';
import { noSuchEndpoint, placeOf } from './get.ts';
import { cancelPendingDeliveries, deleteEndpointRow } from './sql.ts';

/** What was delivered stays in the log; what was still to be delivered is canceled. */
export function deleteWebhookEndpoint(
  ctx: WriteContext,
  { params }: { params: { id: string } },
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const place = placeOf(ctx, params.id);
    if (!(await deleteEndpointRow(tx, place))) throw noSuchEndpoint(params.id);
    await cancelPendingDeliveries(tx, place, new Date(ctx.clock.nowMs()));
    return ctx.render({ id: params.id, object: 'webhook_endpoint', deleted: true });
  });
}
