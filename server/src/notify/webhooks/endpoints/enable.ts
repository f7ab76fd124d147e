import type { WriteContext } from '../../../accounts/context.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { announceDeliveries } from '../signal.ts';
import { endpointKey, noSuchEndpoint } from './get.ts';
import { presentEndpoint } from './present.ts';
import { recordEndpointChange } from './record-change.ts';
import { enableEndpointRow } from './sql/endpoints.ts';

/** Resumes delivery of new events; `recover` delivers the missed ones. */
export async function enableWebhookEndpoint(
  ctx: WriteContext,
  { params }: { params: { id: string } },
): Promise<Outcome> {
  let named = {};
  const outcome = await runOnce(ctx, async (tx) => {
    const row = await enableEndpointRow(tx, endpointKey(ctx, params.id));
    if (!row) throw noSuchEndpoint(params.id);
    await recordEndpointChange(ctx, tx, 'webhook_endpoint.enabled', { endpointUuid: row.id });
    named = { endpointUuid: row.id };
    return ctx.render(presentEndpoint(ctx, row));
  });
  return announceDeliveries(ctx, outcome, named);
}
