import type { Context } from '../../../accounts/context.ts';
import { noSuch } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { endpointKey } from './get.ts';
import { cancelPendingDeliveries } from './sql/cancel.ts';
import { deleteEndpointRow } from './sql/endpoints.ts';

/** Finished deliveries stay in the log; pending ones are canceled. */
export async function deleteWebhookEndpoint(
  tx: Queryable,
  ctx: Context,
  { params }: { params: { id: string } },
) {
  const key = endpointKey(ctx, params.id);
  if (!(await deleteEndpointRow(tx, key))) throw noSuch('webhook endpoint', params.id);
  await cancelPendingDeliveries(tx, key, new Date(ctx.clock.nowMs()));
  return { body: { id: params.id, object: 'webhook_endpoint', deleted: true } as const };
}
