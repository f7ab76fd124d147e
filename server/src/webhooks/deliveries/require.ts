import { idPrefixes } from '@simplane/contract';
import { AppError } from '../../app-error.ts';
import type { Queryable } from '../../db/database.ts';
import { uuidOfId } from '../../ids/uuid.ts';
import { clip } from '../../telemetry/clip.ts';
import { type EndpointRow, findEndpoint } from '../endpoints/sql.ts';
import { findEventType } from './sql.ts';

/** The account's own endpoint; another account's does not exist. `param` is where the caller named it. */
export async function requireEndpoint(
  db: Queryable,
  accountUuid: string,
  id: string,
  param: 'id' | 'webhook_endpoint_id' = 'id',
): Promise<EndpointRow> {
  const endpointUuid = uuidOfId(idPrefixes.webhookEndpoint, id);
  const row = endpointUuid && (await findEndpoint(db, { accountUuid, endpointUuid }));
  if (!row)
    throw new AppError('resource_missing', `No webhook endpoint has the id "${clip(id)}".`, { param });
  return row;
}

export async function requireEvent(
  db: Queryable,
  accountUuid: string,
  id: string,
): Promise<{ uuid: string; type: string }> {
  const uuid = uuidOfId(idPrefixes.event, id);
  const type = uuid && (await findEventType(db, accountUuid, uuid));
  if (!uuid || type === null) {
    throw new AppError('resource_missing', `No event has the id "${clip(id)}".`, { param: 'id' });
  }
  return { uuid, type };
}

export function endpointDisabled(id: string, details: { param?: string } = {}): AppError {
  return new AppError(
    'state_conflict',
    `The webhook endpoint ${id} is disabled, so nothing is sent to it. Enable it first.`,
    details,
  );
}
