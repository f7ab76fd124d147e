import { randomBytes } from 'node:crypto';
import type { InputFor } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { noSuch } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { uuidText } from '../../../platform/ids/uuid.ts';
import { signingSecretPlace } from '../../../platform/secrets/sealed-places.ts';
import { endpointKey, requireEndpoint } from './get.ts';
import { presentEndpoint } from './present.ts';
import {
  type EndpointKey,
  expireSecrets,
  insertSecret,
  removeOldSecrets,
  renewEndpoint,
} from './sql/endpoints.ts';

const defaultOverlapSeconds = 86_400;
// The new one and two older ones: each adds a signature to every delivery's headers.
const maxLiveSecrets = 3;

/** The new secret signs immediately; older ones sign until the overlap ends, or until their earlier expiry. */
export async function rotateWebhookSecret(
  tx: Queryable,
  ctx: Context,
  { params, body }: InputFor<'rotateWebhookSecret'>,
) {
  const key = endpointKey(ctx, params.id);
  if (!(await renewEndpoint(tx, key))) throw noSuch('webhook endpoint', params.id);
  const now = new Date(ctx.clock.nowMs());
  const overlapSeconds = body.expires_in ?? defaultOverlapSeconds;
  await expireSecrets(tx, key, new Date(now.getTime() + overlapSeconds * 1000));
  const secret = await addSecret(ctx, tx, key, now);
  await removeOldSecrets(tx, key, { now, kept: maxLiveSecrets });
  const row = await requireEndpoint(ctx, tx, params.id);
  return {
    body: { ...presentEndpoint(ctx, row), secret },
    isSecret: true,
    changes: { expires_in: overlapSeconds },
  };
}

/** Creates and stores a sealed signing secret; returns the plain text for the only response that shows it. */
export async function addSecret(
  ctx: Pick<Context, 'keyring' | 'newUuid'>,
  tx: Queryable,
  key: EndpointKey,
  createdAt: Date,
): Promise<string> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const uuid = uuidText(ctx.newUuid());
  const context = signingSecretPlace(key.accountUuid, key.endpointUuid, uuid);
  await insertSecret(tx, key, { uuid, sealed: ctx.keyring.seal(secret, context), createdAt });
  return secret;
}
