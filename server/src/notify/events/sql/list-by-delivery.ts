import type { Queryable } from '../../../platform/db/database.ts';
import { maxSearched, searchedEnough } from '../../../platform/lists/too-broad.ts';
import { hasPendingDelivery } from '../has-pending-delivery.ts';
import type { EventRange } from './list-about.ts';
import { type CutEvents, queryWithinBytes } from './query-within-bytes.ts';
import { isOfTypes, typeRanges } from './type-ranges.ts';

type Filter = { delivery: 'failed' | 'pending'; types: string[] | undefined };

/**
 * Newest first. Starts from the deliveries, which are few unless an endpoint is down: with 400,000 events and none pending it takes
 * 1 ms, and a walk over the events 2 s.
 */
export async function listEventsByDelivery(
  db: Queryable,
  accountUuid: string,
  { delivery, types }: Filter,
  { beforeUuid, fromUuid, count, maxBytes }: EventRange,
): Promise<CutEvents> {
  const range = [accountUuid, beforeUuid, fromUuid];
  const values = [...range, count, ...(types ? typeRanges(types) : [])];
  const read = (source: Source) => queryWithinBytes(db, statementOf(source, types), values, maxBytes);
  const isCut = async (source: Source) => (await db.query(many(source), range)).length > 0;
  const hasMorePending = async (than: number) =>
    (await db.query(morePending, [accountUuid, than])).length > 0;

  if (delivery === 'failed') {
    const isPart = await isCut('failed');
    const page = await read('failed');
    if (isPart && page.found < count) throw searchedEnough();
    return page;
  }
  if (!(await hasMorePending(fewPending))) return read('pending');
  // A backlog. Usually the newest events fill a page.
  const page = await read('newest');
  if (page.found === count) return page;
  if (!(await hasMorePending(maxSearched))) return read('pending');
  if (await isCut('newest')) throw searchedEnough();
  return page;
}

const fewPending = 200;

const inRange = (column: string) => `account_id = $1 and ${column} < $2 and ${column} >= $3`;

/** The events that a page may look at. Of the pending ones there is no index in this order: the queue would be slower to write. */
const candidates = {
  failed: `select event_id from deliveries where status = 'failed' and ${inRange('event_id')} group by event_id`,
  pending: `
  select event_id from delivery_queue where ${inRange('event_id')}
  union
  select event_id from blocked_deliveries where ${inRange('event_id')}`,
  newest: `select id as event_id from events where ${inRange('id')}`,
};

type Source = keyof typeof candidates;

function statementOf(source: Source, types: string[] | undefined) {
  const isOfTheseTypes = types ? `and ${isOfTypes(5)}` : '';
  const isPending = source === 'newest' ? `and ${hasPendingDelivery}` : '';
  return {
    name: `event_list_${source}${types ? '_types' : ''}`,
    text: `
select one.*
from (${candidates[source]} order by event_id desc limit ${maxSearched}) candidate
cross join lateral (
  select id, body
  from events
  where account_id = $1 and id = candidate.event_id ${isOfTheseTypes} ${isPending}
  offset 0
) one
order by candidate.event_id desc
limit $4`,
  };
}

/** Whether there are more candidates than a page looks at. */
function many(source: Source) {
  return {
    name: `event_list_many_${source}`,
    text: `
select
from (${candidates[source]} order by event_id desc) candidate
offset ${maxSearched} limit 1`,
  };
}

const morePending = {
  name: 'event_list_more_pending',
  text: `
select
from (
  (select from delivery_queue where account_id = $1 order by id limit $2::integer + 1)
  union all
  (select from blocked_deliveries where account_id = $1 order by id limit $2::integer + 1)
) pending
offset $2::integer limit 1`,
};
