import type { WriteContext } from '../../context.ts';
import type { Outcome } from '../../idempotency/outcome.ts';
import { runOnce } from '../../idempotency/run-once.ts';
import { noSuchEndpoint, placeOf } from './get.ts';
import { presentEndpoint } from './present.ts';
import { enableEndpointRow } from './sql.ts';

/** From here on events are delivered to it again; what it missed is left to `recover`. */
export function enableWebhookEndpoint(
  ctx: WriteContext,
  { params }: { params: { id: string } },
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const row = await enableEndpointRow(tx, placeOf(ctx, params.id));
    if (!row) throw noSuchEndpoint(params.id);
    return ctx.render(presentEndpoint(row));
  });
}
