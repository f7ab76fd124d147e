import type { Queryable } from '../../../../platform/db/database.ts';
import { forceKeyLookup } from '../../../../platform/db/planner-hints.ts';
import { positionOfEvent } from '../../position-of-event.ts';
import type { OrderKey } from '../order-key.ts';

type Page = {
  keys: OrderKey[];
  /** Where the next page starts; null after the last. */
  nextEvent: string | null;
};

type Row = OrderKey & { eventUuid: string; isPlaced: boolean };

/**
 * Stores the position of blocked deliveries whose event has got one. May run in any number of processes and be killed anywhere:
 * `isNextInOrder` does not rely on the order in which positions are stored. Events above the newest sequenced id are passed over
 * without a search.
 */
export async function setPositions(db: Queryable, afterEvent: string, count: number): Promise<Page> {
  const rows = await db.query<Row>(
    {
      name: 'ordered_set_positions',
      text: `
with unplaced as materialized (
  select b.account_id, b.id, b.event_id
  from blocked_deliveries b
  where b.position is null and b.event_id > $1 and b.event_id <= (
    select head.newest_id
    from event_feed_heads head
    where head.account_id = b.account_id)
  order by b.event_id
  limit $2
  for update skip locked
), found as materialized (
  select account_id, id, event_id, ${positionOfEvent('unplaced.account_id', 'unplaced.event_id')} as position
  from unplaced
), placed as (
  update blocked_deliveries b
  set position = found.position
  from found
  where b.account_id = found.account_id and b.id = found.id and found.position is not null
    and ${forceKeyLookup('found.position')}
  returning b.account_id, b.id, b.endpoint_id, b.order_key
)
select found.event_id as "eventUuid", placed.id is not null as "isPlaced",
  found.account_id as "accountUuid", placed.endpoint_id as "endpointUuid", placed.order_key as iccid
from found
left join placed on placed.account_id = found.account_id and placed.id = found.id
order by found.event_id`,
    },
    [afterEvent, count],
  );
  const keys = rows.filter(({ isPlaced }) => isPlaced);
  return { keys, nextEvent: rows.length < count ? null : (rows.at(-1)?.eventUuid ?? null) };
}
