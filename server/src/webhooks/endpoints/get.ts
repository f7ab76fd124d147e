import { idPrefixes, type WebhookEndpoint } from '@simplane/contract';
import { AppError } from '../../app-error.ts';
import type { Context } from '../../context.ts';
import type { Queryable } from '../../db/database.ts';
import { uuidOfId } from '../../ids/uuid.ts';
import { clip } from '../../telemetry/clip.ts';
import { presentEndpoint } from './present.ts';
import { type EndpointPlace, type EndpointRow, findEndpoint } from './sql.ts';

type EndpointParam = 'id' | 'webhook_endpoint_id';

export async function getWebhookEndpoint(
  ctx: Context,
  { params }: { params: { id: string } },
): Promise<WebhookEndpoint> {
  return presentEndpoint(await requireEndpoint(ctx, ctx.db, params.id));
}

/** The account's own endpoint; another account's does not exist. `param` is where the caller named it. */
export async function requireEndpoint(
  ctx: Context,
  db: Queryable,
  id: string,
  param?: EndpointParam,
): Promise<EndpointRow> {
  const row = await findEndpoint(db, placeOf(ctx, id, param));
  if (!row) throw noSuchEndpoint(id, param);
  return row;
}

/** Null for an endpoint that was deleted. */
export async function endpointStatus(
  db: Queryable,
  place: EndpointPlace,
): Promise<EndpointRow['status'] | null> {
  return (await findEndpoint(db, place))?.status ?? null;
}

/** Where the account's endpoint of that id would be; text that is no id names nothing. */
export function placeOf(ctx: Context, id: string, param?: EndpointParam): EndpointPlace {
  const endpointUuid = uuidOfId(idPrefixes.webhookEndpoint, id);
  if (endpointUuid === null) throw noSuchEndpoint(id, param);
  return { accountUuid: ctx.account.uuid, endpointUuid };
}

export function noSuchEndpoint(id: string, param: EndpointParam = 'id'): AppError {
  return new AppError('resource_missing', `No webhook endpoint has the id "${clip(id)}".`, { param });
}
