import type { InputOf, Operations } from '@simplane/contract';
import type { WriteContext } from '../../../accounts/context.ts';
import type { Outcome } from '../../../platform/idempotency/outcome.ts';
import { runOnce } from '../../../platform/idempotency/run-once.ts';
import { addSecret } from './add-secret.ts';
import { endpointKey, noSuchEndpoint, requireEndpoint } from './get.ts';
import { presentEndpoint } from './present.ts';
import { recordEndpointChange } from './record-change.ts';
import { expireSecrets, lockEndpoint, removeOldSecrets } from './sql/endpoints.ts';

const defaultOverlapSeconds = 86_400;
// The new one and two older ones: each adds a signature to every delivery's headers.
const maxLiveSecrets = 3;

/** The new secret signs immediately; older ones sign until the overlap ends, or until their earlier expiry. */
export function rotateWebhookSecret(
  ctx: WriteContext,
  { params, body }: InputOf<Operations['rotateWebhookSecret']>,
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const key = endpointKey(ctx, params.id);
    if (!(await lockEndpoint(tx, key))) throw noSuchEndpoint(params.id);
    const now = new Date(ctx.clock.nowMs());
    const overlapSeconds = body.expires_in ?? defaultOverlapSeconds;
    await expireSecrets(tx, key, new Date(now.getTime() + overlapSeconds * 1000));
    const secret = await addSecret(ctx, tx, key, now);
    await removeOldSecrets(tx, key, { now, kept: maxLiveSecrets });
    const row = await requireEndpoint(ctx, tx, params.id);
    const changes = { expires_in: overlapSeconds };
    await recordEndpointChange(ctx, tx, 'webhook_endpoint.secret_rotated', { ...key, changes });
    return ctx.render({ ...presentEndpoint(ctx, row), secret }, { isSecret: true });
  });
}
