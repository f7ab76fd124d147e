import type { WriteContext } from '../../../accounts/context.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { endpointKey, noSuchEndpoint } from './get.ts';
import { recordEndpointChange } from './record-change.ts';
import { cancelPendingDeliveries } from './sql/cancel.ts';
import { deleteEndpointRow } from './sql/endpoints.ts';

/** Finished deliveries stay in the log; pending ones are canceled. */
export function deleteWebhookEndpoint(
  ctx: WriteContext,
  { params }: { params: { id: string } },
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const key = endpointKey(ctx, params.id);
    if (!(await deleteEndpointRow(tx, key))) throw noSuchEndpoint(params.id);
    await cancelPendingDeliveries(tx, key, new Date(ctx.clock.nowMs()));
    await recordEndpointChange(ctx, tx, 'webhook_endpoint.deleted', key);
    return ctx.render({ id: params.id, object: 'webhook_endpoint', deleted: true });
  });
}
