import { type Delivery, idPrefixes } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { AppError } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { uuidOfId } from '../../../platform/ids/uuid.ts';
import { clip } from '../../../platform/telemetry/clip.ts';
import { presentDelivery } from './present.ts';
import { type DeliveryRow, findDelivery } from './sql/deliveries.ts';

export async function getDelivery(ctx: Context, { params }: { params: { id: string } }): Promise<Delivery> {
  return presentDelivery(await requireDelivery(ctx.db, ctx.account.uuid, params.id));
}

/** Finds the account's delivery or throws. */
export async function requireDelivery(db: Queryable, accountUuid: string, id: string): Promise<DeliveryRow> {
  const uuid = uuidOfId(idPrefixes.delivery, id);
  const row = uuid && (await findDelivery(db, accountUuid, uuid));
  if (!row) throw new AppError('resource_missing', `No delivery has the id "${clip(id)}".`, { param: 'id' });
  return row;
}
