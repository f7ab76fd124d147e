import { idPrefixes } from '@simplane/contract';
import { AppError } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { uuidOfId } from '../../../platform/ids/uuid.ts';
import { clip } from '../../../platform/telemetry/clip.ts';
import { endpointIdOf } from '../sql-pieces.ts';
import { findEvent } from './sql/queue.ts';

export async function requireEvent(
  db: Queryable,
  accountUuid: string,
  id: string,
): Promise<{ uuid: string; type: string; aboutEndpointUuid: string | null }> {
  const uuid = uuidOfId(idPrefixes.event, id);
  const event = uuid && (await findEvent(db, accountUuid, uuid));
  if (!uuid || !event) {
    throw new AppError('resource_missing', `No event has the id "${clip(id)}".`, { param: 'id' });
  }
  const endpointId = endpointIdOf(event);
  const aboutEndpointUuid = endpointId && uuidOfId(idPrefixes.webhookEndpoint, endpointId);
  return { uuid, type: event.type, aboutEndpointUuid: aboutEndpointUuid || null };
}

export function endpointDisabled(id: string, details: { param?: string } = {}): AppError {
  return new AppError('state_conflict', `The webhook endpoint ${id} is disabled. Enable it first.`, details);
}
