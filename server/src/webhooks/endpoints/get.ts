import { idPrefixes, type WebhookEndpoint } from '@simplane/contract';
import { AppError } from '../../app-error.ts';
import type { Context } from '../../context.ts';
import { uuidOfId } from '../../ids/uuid.ts';
import { clip } from '../../telemetry/clip.ts';
import { presentEndpoint } from './present.ts';
import { type EndpointPlace, findEndpoint } from './sql.ts';

export async function getWebhookEndpoint(
  ctx: Context,
  { params }: { params: { id: string } },
): Promise<WebhookEndpoint> {
  const row = await findEndpoint(ctx.db, placeOf(ctx, params.id));
  if (!row) throw noSuchEndpoint(params.id);
  return presentEndpoint(row);
}

/** Where the account's endpoint of that id would be; text that is no id names nothing. */
export function placeOf(ctx: Context, id: string): EndpointPlace {
  const endpointUuid = uuidOfId(idPrefixes.webhookEndpoint, id);
  if (endpointUuid === null) throw noSuchEndpoint(id);
  return { accountUuid: ctx.account.uuid, endpointUuid };
}

export function noSuchEndpoint(id: string): AppError {
  return new AppError('resource_missing', `No webhook endpoint has the id "${clip(id)}".`, { param: 'id' });
}
