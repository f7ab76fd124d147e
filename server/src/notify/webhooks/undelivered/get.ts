import { type InputFor, idPrefixes, type Undelivered } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { createdRangeOf, idRangeOf } from '../../../platform/lists/created-range.ts';
import { distinctTypes } from '../../events/subscriptions.ts';
import { requireEndpointStatus } from '../endpoints/get.ts';
import { addUp, readUndelivered } from './read.ts';
import type { UndeliveredCount } from './sql.ts';

/** Counts what the endpoint did not receive, by type and by day. */
export async function getUndelivered(
  ctx: Context,
  { params, query }: InputFor<'getUndelivered'>,
): Promise<Undelivered> {
  const { id: endpointUuid } = await requireEndpointStatus(ctx, ctx.db, params.id);
  const { fromUuid, beforeUuid } = idRangeOf(createdRangeOf(query), null);
  const found = await readUndelivered(ctx, endpointUuid, {
    fromEvent: fromUuid,
    untilEvent: beforeUuid,
    types: query.type && distinctTypes(query.type),
  });
  return {
    object: 'undelivered',
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, endpointUuid),
    event_count: found.count,
    oldest: found.oldest,
    types: addUp(found.counts),
    days: byDay(found.counts),
    capped: found.isCapped,
  };
}

/** Oldest first. */
function byDay(counts: readonly UndeliveredCount[]): Undelivered['days'] {
  const days = new Map<string, UndeliveredCount[]>();
  for (const one of counts) days.set(one.day, [...(days.get(one.day) ?? []), one]);
  return [...days].map(([day, ofDay]) => ({
    day,
    count: ofDay.reduce((sum, { count }) => sum + count, 0),
    types: addUp(ofDay),
  }));
}
