import type { InputOf, Operations } from '@simplane/contract';
import type { WriteContext } from '../../context.ts';
import type { Outcome } from '../../idempotency/outcome.ts';
import { runOnce } from '../../idempotency/run-once.ts';
import { addSecret } from './add-secret.ts';
import { noSuchEndpoint, placeOf } from './get.ts';
import { presentEndpoint } from './present.ts';
import { expireSecrets, lockEndpoint, removeOldSecrets } from './sql.ts';

const defaultOverlapSeconds = 86_400;
// The new one and two before it: each is a signature in every delivery's header.
const mostLiveSecrets = 3;

/** The new secret signs at once; those before it go on signing until the overlap ends, or the earlier end they had. */
export function rotateWebhookSecret(
  ctx: WriteContext,
  { params, body }: InputOf<Operations['rotateWebhookSecret']>,
): Promise<Outcome> {
  return runOnce(ctx, async (tx) => {
    const place = placeOf(ctx, params.id);
    const row = await lockEndpoint(tx, place);
    if (!row) throw noSuchEndpoint(params.id);
    const now = new Date(ctx.clock.nowMs());
    const overlapMs = (body.expires_in ?? defaultOverlapSeconds) * 1000;
    await expireSecrets(tx, place, new Date(now.getTime() + overlapMs));
    const secret = await addSecret(ctx, tx, place, now);
    await removeOldSecrets(tx, place, { now, kept: mostLiveSecrets });
    return ctx.render({ ...presentEndpoint(row), secret }, { isSecret: true });
  });
}
