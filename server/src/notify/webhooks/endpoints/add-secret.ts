import { randomBytes } from 'node:crypto';
import type { Context } from '../../../accounts/context.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { uuidText } from '../../../platform/ids/uuid.ts';
import { signingSecretPlace } from '../../../platform/secrets/sealed-places.ts';
import { type EndpointKey, insertSecret } from './sql/endpoints.ts';

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
