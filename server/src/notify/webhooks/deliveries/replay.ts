import { type InputFor, idPrefixes, type Operations, type ResultOf } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import type { Reply } from '../../../accounts/write.ts';
import { type AppError, invalid } from '../../../platform/app-error.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { idOfUuid, uuidText } from '../../../platform/ids/uuid.ts';
import { subscriptionsOf } from '../../events/subscriptions.ts';
import { requireEndpointStatus } from '../endpoints/get.ts';
import { announceDeliveries } from '../signal.ts';
import { endpointDisabled, requireEvent } from './get.ts';
import { presentDelivery } from './present.ts';
import type { DeliveryRow } from './sql/deliveries.ts';
import { insertToEndpoint, insertToSubscribers } from './sql/queue.ts';

/** Delivers an event again. The event is unchanged; only the new deliveries are marked as replays. */
export async function replayEvent(
  tx: Queryable,
  ctx: Context,
  { params, body }: InputFor<'replayEvent'>,
): Promise<Reply<ResultOf<Operations['replayEvent']>>> {
  const event = await requireEvent(tx, ctx.account.uuid, params.id);
  const rows =
    body.webhook_endpoint_id === undefined
      ? await insertToSubscribers(tx, ctx.account.uuid, {
          eventUuid: event.uuid,
          subscriptions: subscriptionsOf(event.type),
          exceptEndpointUuid: event.aboutEndpointUuid,
          createdAt: new Date(ctx.clock.nowMs()),
        })
      : [await replayTo(ctx, tx, event.uuid, body.webhook_endpoint_id)];
  const eventId = idOfUuid(idPrefixes.event, event.uuid);
  return {
    body: { object: 'event_replay', event_id: eventId, deliveries: rows.map(presentDelivery) },
    changes: { ...body, delivery_count: rows.length },
    afterCommit: () => announceDeliveries(ctx),
  };
}

/** Delivers several events again, or none of them if one does not exist. */
export async function replayEvents(
  tx: Queryable,
  ctx: Context,
  { body }: InputFor<'replayEvents'>,
): Promise<Reply<ResultOf<Operations['replayEvents']>>> {
  const { event_ids: ids, ...to } = body;
  const replays = [];
  let count = 0;
  for (const id of new Set(ids)) {
    const { body: replay } = await replayEvent(tx, ctx, { params: { id }, query: {}, body: to });
    count += replay.deliveries.length;
    if (count > maxDeliveries) throw tooManyDeliveries();
    replays.push({ ...replay, deliveries: replay.deliveries.map((delivery) => delivery.id) });
  }
  return {
    body: { object: 'event_replays', data: replays },
    changes: { ...body, delivery_count: count },
    afterCommit: () => announceDeliveries(ctx),
  };
}

// Ten events to each of 1,000 endpoints. All are queued in one transaction.
const maxDeliveries = 10_000;

function tooManyDeliveries(): AppError {
  const message = `These events have more than ${maxDeliveries.toLocaleString('en')} deliveries together. Send fewer of them, or a webhook_endpoint_id.`;
  return invalid('event_ids', message);
}

/** A named endpoint gets the event even if it does not subscribe to the type. */
async function replayTo(
  ctx: Context,
  tx: Queryable,
  eventUuid: string,
  endpointId: string,
): Promise<DeliveryRow> {
  const endpoint = await requireEndpointStatus(ctx, tx, endpointId, 'webhook_endpoint_id');
  const row = await insertToEndpoint(tx, ctx.account.uuid, {
    uuid: uuidText(ctx.newUuid()),
    eventUuid,
    eventAccountUuid: null,
    endpointUuid: endpoint.id,
    origin: 'replay',
    createdAt: new Date(ctx.clock.nowMs()),
  });
  if (!row) throw endpointDisabled(ctx.account, endpointId, { param: 'webhook_endpoint_id' });
  return row;
}
