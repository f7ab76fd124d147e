import { type InputFor, idPrefixes } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { pathsOf } from '../../../accounts/deployment.ts';
import { type AppError, conflict } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import { endpointStatus } from '../endpoints/get.ts';
import { announceDeliveries } from '../signal.ts';
import { endpointDisabled, requireDelivery } from './get.ts';
import { presentDelivery } from './present.ts';
import type { DeliveryRow } from './sql/deliveries.ts';
import { findEvent, insertToEndpoint, makeDue, unblockDelivery } from './sql/queue.ts';

/**
 * Sends a pending delivery now, even if its endpoint is paused after failures or it waits for another. For a failed or canceled one queues a new delivery:
 * a finished one never changes.
 */
export async function retryDelivery(tx: Queryable, ctx: Context, { params }: InputFor<'retryDelivery'>) {
  const row = await requireDelivery(tx, ctx.account.uuid, params.id);
  if (row.status === 'succeeded') throw alreadyDelivered();
  await requireSendable(ctx, tx, row);
  const retried = row.status === 'pending' ? await sendNow(ctx, tx, row) : await queueAgain(ctx, tx, row);
  const delivery = presentDelivery(retried);
  const named = { endpointUuid: retried.endpoint_id, deliveryUuid: retried.id };
  return {
    body: delivery,
    location: `${pathsOf(ctx.account)}/deliveries/${delivery.id}`,
    changes: delivery.id === params.id ? {} : { queued_as: delivery.id },
    afterCommit: () => announceDeliveries(ctx, named),
  };
}

async function requireSendable(ctx: Context, tx: Queryable, row: DeliveryRow): Promise<void> {
  const key = { accountUuid: ctx.account.uuid, endpointUuid: row.endpoint_id };
  const status = await endpointStatus(tx, key);
  if (status === null)
    throw conflict(
      'The webhook endpoint of this delivery was deleted. Replay its event to another endpoint.',
    );
  if (status === 'disabled') throw disabled(ctx, row);
  if ((await findEvent(tx, row.event_account_id ?? ctx.account.uuid, row.event_id)) === null) {
    throw conflict(
      'The event of this delivery is no longer stored, so it cannot be sent again. Read the object that it is about instead.',
    );
  }
}

async function sendNow(ctx: Context, tx: Queryable, row: DeliveryRow): Promise<DeliveryRow> {
  const isQueued = () => makeDue(tx, ctx.account.uuid, row.id);
  // Between the statements, its turn may come and move it to the queue.
  const isPending =
    (await isQueued()) || (await unblockDelivery(tx, ctx.account.uuid, row.id)) || (await isQueued());
  const current = await requireDelivery(tx, ctx.account.uuid, idOfUuid(idPrefixes.delivery, row.id));
  if (isPending) return current;
  // It finished between the two reads.
  if (current.status === 'succeeded') throw alreadyDelivered();
  return queueAgain(ctx, tx, current);
}

async function queueAgain(ctx: Context, tx: Queryable, row: DeliveryRow): Promise<DeliveryRow> {
  const queued = await insertToEndpoint(tx, ctx.account.uuid, {
    uuid: uuidText(ctx.newUuid()),
    eventUuid: row.event_id,
    eventAccountUuid: row.event_account_id,
    endpointUuid: row.endpoint_id,
    origin: 'retry',
    createdAt: new Date(ctx.clock.nowMs()),
  });
  if (!queued) throw disabled(ctx, row);
  return queued;
}

function alreadyDelivered(): AppError {
  return conflict(
    'This delivery succeeded, so there is nothing to retry. To deliver its event again, replay the event.',
  );
}

function disabled(ctx: Context, row: DeliveryRow): AppError {
  return endpointDisabled(ctx.account, idOfUuid(idPrefixes.webhookEndpoint, row.endpoint_id));
}
