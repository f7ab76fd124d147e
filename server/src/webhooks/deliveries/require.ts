import { idPrefixes } from '@simplane/contract';
import { AppError } from '../../app-error.ts';
import type { Queryable } from '../../db/database.ts';
import { uuidOfId } from '../../ids/uuid.ts';
import { clip } from '../../telemetry/clip.ts';
import { findEventType } from './sql/find-event-type.ts';

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
  return new AppError('state_conflict', `The webhook endpoint ${id} is disabled. Enable it first.`, details);
}
