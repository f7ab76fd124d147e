import { type AttemptOutcome, type DeliveryAttempt, type InputFor, idPrefixes } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { beforeFirst } from '../../../platform/lists/keyset.ts';
import { readPage } from '../../../platform/lists/read-page.ts';
import { requireEndpointStatus } from '../endpoints/get.ts';
import { presentAttempt } from './present.ts';
import { type AttemptRow, type DeliveryRow, listTriedDeliveries } from './sql/deliveries.ts';

type Attempt = { delivery: DeliveryRow; number: number; outcome: AttemptOutcome; row: AttemptRow };

type Place = { deliveryUuid: string; number: number };

type Filter = { endpointUuid: string; outcome: AttemptOutcome | undefined };

/** A place in the list: a delivery and the number of its attempt. Neither changes when the delivery ends. */
const position = {
  pattern: /^[0-9a-f-]{36}\/[1-9]\d{0,8}$/,
  encode: ({ deliveryUuid, number }: Place) => `${deliveryUuid}/${number}`,
  decode(text: string): Place {
    const [deliveryUuid = '', number] = text.split('/');
    return { deliveryUuid, number: Number(number) };
  },
};

export async function listEndpointAttempts(
  ctx: Context,
  { params, query }: InputFor<'listEndpointAttempts'>,
) {
  const endpoint = await requireEndpointStatus(ctx, ctx.db, params.id);
  const filter = { endpointUuid: endpoint.id, outcome: query.outcome };
  return readPage(query, {
    scope: { list: 'attempts', accountId: ctx.account.id, filters: filter },
    read: (after, count) => readAttempts(ctx, filter, after === null ? null : position.decode(after), count),
    positionOf: ({ delivery, number }) => position.encode({ deliveryUuid: delivery.id, number }),
    positionPattern: position.pattern,
    present,
    waitForRoom: ctx.waitForRoom,
  });
}

/** A delivery has at least one matching attempt, except the one of the cursor, so a second read is rare. */
async function readAttempts(
  ctx: Context,
  filter: Filter,
  after: Place | null,
  count: number,
): Promise<Attempt[]> {
  const found: Attempt[] = [];
  let place = after;
  while (found.length < count) {
    // One more, because the delivery of the place may have no attempt left.
    const page = { fromUuid: place?.deliveryUuid ?? beforeFirst, count: count - found.length + 1 };
    const deliveries = await listTriedDeliveries(ctx.db, ctx.account.uuid, filter, page);
    for (const delivery of deliveries) {
      found.push(...attemptsOf(delivery).filter((attempt) => isWanted(attempt, filter, place)));
    }
    const last = deliveries.at(-1);
    if (!last || deliveries.length < page.count) break;
    place = { deliveryUuid: last.id, number: 1 };
  }
  return found.slice(0, count);
}

/** The last attempt first. */
function attemptsOf(delivery: DeliveryRow): Attempt[] {
  const earlier = delivery.attempt_count - delivery.attempts.length;
  return delivery.attempts
    .map((row, index) => ({ delivery, number: earlier + index + 1, outcome: outcomeOf(row), row }))
    .reverse();
}

function outcomeOf({ status_code: status }: AttemptRow): AttemptOutcome {
  return status !== null && status < 300 ? 'succeeded' : 'failed';
}

function isWanted({ delivery, number, outcome }: Attempt, filter: Filter, after: Place | null): boolean {
  if (filter.outcome !== undefined && outcome !== filter.outcome) return false;
  return delivery.id !== after?.deliveryUuid || number < after.number;
}

function present({ delivery, number, outcome, row }: Attempt): DeliveryAttempt {
  return {
    object: 'delivery_attempt',
    delivery_id: idOfUuid(idPrefixes.delivery, delivery.id),
    event_id: idOfUuid(idPrefixes.event, delivery.event_id),
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, delivery.endpoint_id),
    number,
    outcome,
    ...presentAttempt(row),
  };
}
