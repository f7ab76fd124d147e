import { idPrefixes, type WebhookEndpoint } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { noSuch } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { uuidOfId } from '../../../platform/ids/uuid.ts';
import { presentEndpoint } from './present.ts';
import { type EndpointKey, type EndpointRow, findEndpoint, findStatus } from './sql/endpoints.ts';

export type { EndpointRow } from './sql/endpoints.ts';

type EndpointParam = 'id' | 'webhook_endpoint_id';

export async function getWebhookEndpoint(
  ctx: Context,
  { params }: { params: { id: string } },
): Promise<WebhookEndpoint> {
  return presentEndpoint(ctx, await requireEndpoint(ctx, ctx.db, params.id));
}

/** Finds the account's endpoint or throws. `param` is the request parameter that named it. */
export async function requireEndpoint(
  ctx: Context,
  db: Queryable,
  id: string,
  param?: EndpointParam,
): Promise<EndpointRow> {
  const row = await findEndpoint(db, endpointKey(ctx, id, param));
  if (!row) throw noSuch('webhook endpoint', id, param);
  return row;
}

/** The same for callers that need only these: counting what an endpoint missed can take a second. */
export async function requireEndpointStatus(
  ctx: Context,
  db: Queryable,
  id: string,
  param?: EndpointParam,
): Promise<Pick<EndpointRow, 'id' | 'status'>> {
  const key = endpointKey(ctx, id, param);
  const status = await findStatus(db, key);
  if (status === null) throw noSuch('webhook endpoint', id, param);
  return { id: key.endpointUuid, status };
}

/** Returns null for a deleted endpoint. */
export { findStatus as endpointStatus } from './sql/endpoints.ts';

/** Throws if `id` is malformed. */
export function endpointKey(ctx: Context, id: string, param?: EndpointParam): EndpointKey {
  const endpointUuid = uuidOfId(idPrefixes.webhookEndpoint, id);
  if (endpointUuid === null) throw noSuch('webhook endpoint', id, param);
  return { accountUuid: ctx.account.uuid, endpointUuid };
}
