import { type Delivery, idPrefixes } from '@simplane/contract';
import type { Account, Context } from '../../../accounts/context.ts';
import { pathsOf } from '../../../accounts/deployment.ts';
import { AppError, noSuch } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { uuidOfId } from '../../../platform/ids/uuid.ts';
import { endpointIdOf } from '../sql-pieces.ts';
import { presentDelivery } from './present.ts';
import { type DeliveryRow, findDelivery } from './sql/deliveries.ts';
import { findEvent } from './sql/queue.ts';

export async function getDelivery(ctx: Context, { params }: { params: { id: string } }): Promise<Delivery> {
  return presentDelivery(await requireDelivery(ctx.db, ctx.account.uuid, params.id));
}

/** Finds the account's delivery or throws. */
export async function requireDelivery(db: Queryable, accountUuid: string, id: string): Promise<DeliveryRow> {
  const uuid = uuidOfId(idPrefixes.delivery, id);
  const row = uuid && (await findDelivery(db, accountUuid, uuid));
  if (!row) throw noSuch('delivery', id);
  return row;
}

export async function requireEvent(
  db: Queryable,
  accountUuid: string,
  id: string,
): Promise<{ uuid: string; type: string; aboutEndpointUuid: string | null }> {
  const uuid = uuidOfId(idPrefixes.event, id);
  const event = uuid && (await findEvent(db, accountUuid, uuid));
  if (!uuid || !event) {
    throw noSuch('event', id);
  }
  const endpointId = endpointIdOf(event);
  const aboutEndpointUuid = endpointId && uuidOfId(idPrefixes.webhookEndpoint, endpointId);
  return { uuid, type: event.type, aboutEndpointUuid: aboutEndpointUuid || null };
}

export function endpointDisabled(account: Account, id: string, details: { param?: string } = {}): AppError {
  return new AppError(
    'state_conflict',
    `The webhook endpoint ${id} is disabled, so nothing is sent to it. Enable it with POST ${pathsOf(account)}/webhook_endpoints/${id}/enable, then send the same request again.`,
    details,
  );
}
