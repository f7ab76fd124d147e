import { randomBytes } from 'node:crypto';
import type { Context } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import { uuidText } from '../../ids/uuid.ts';
import { signingSecretPlace } from '../../secrets/sealed-places.ts';
import { type EndpointPlace, insertSecret } from './sql.ts';

/** Makes the endpoint's next signing secret, keeps it sealed and returns it for the one answer that shows it. */
export async function addSecret(
  ctx: Pick<Context, 'keyring' | 'newUuid'>,
  tx: Queryable,
  place: EndpointPlace,
  createdAt: Date,
): Promise<string> {
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const uuid = uuidText(ctx.newUuid());
  const bound = signingSecretPlace(place.accountUuid, place.endpointUuid, uuid);
  await insertSecret(tx, place, { uuid, sealed: ctx.keyring.seal(secret, bound), createdAt });
  return secret;
}
