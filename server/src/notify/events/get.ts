import { type Event, idPrefixes } from '@simplane/contract';
import type { Context } from '../../accounts/context.ts';
import { noSuch } from '../../platform/app-error.ts';
import { uuidOfId } from '../../platform/ids/uuid.ts';
import { findEvent } from './sql/events.ts';

export async function getEvent(ctx: Context, { params }: { params: { id: string } }): Promise<Event> {
  const uuid = uuidOfId(idPrefixes.event, params.id);
  const row = uuid && (await findEvent(ctx.db, ctx.account.uuid, uuid));
  if (!row) throw noSuch('event', params.id);
  return JSON.parse(row.body);
}
