import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { lowestUuid } from '../../../platform/ids/uuid-range.ts';

/** An account, and how many of its events are old enough to be deleted. */
export type OldEvents = { accountUuid: string; count: number };

export type Expiry = {
  accountUuid: string;
  /** The position up to which its feed may expire, or has expired. */
  through: number;
  /** The lowest event id that the feed needs after that, also of events that have no position yet; null if there is none. */
  keptFromUuid: string | null;
};

const given = rowsOf<OldEvents>({
  account_id: column.uuid((one) => one.accountUuid),
  count: column.integer((one) => one.count),
});
const [thanUuid, than] = [`$${given.next}`, `$${given.next + 1}`];

const text = `
with recursive given as materialized (
  select given.account_id, given.count, coalesce(head.expired_through, 0) as expired_through
  from ${given.table} given
  left join lateral (
    select expired_through
    from event_feed_heads
    where account_id = given.account_id
    offset 0) head on true
), walk as (
  -- Run by run from the front, as far as there are events to delete. Nothing expires behind something that is kept.
  select account_id, count as events_left, expired_through as through
  from given
  union all
  select walk.account_id, walk.events_left - run.event_count, run.last_position
  from walk
  cross join lateral (
    select cardinality(event_ids) as event_count, first_position + cardinality(event_ids) - 1 as last_position,
      -- One clock may have been wrong; either makes it old.
      newest_id < ${thanUuid} or sequenced_at < ${than} as is_old
    from event_feed
    where account_id = walk.account_id and first_position > walk.through
    order by first_position
    limit 1) run
  where walk.events_left > 0 and run.is_old
), expired as materialized (
  select account_id, max(through) as through
  from walk
  group by account_id
), unsequenced as materialized (
  select account_id, (array_agg(event_id order by event_id))[1] as oldest_id
  from unsequenced_events
  cross join lateral unnest(event_ids) as one (event_id)
  where event_id < ${thanUuid}
  group by account_id
)
select expired.account_id as "accountUuid", expired.through,
  least(unsequenced.oldest_id, (
    select run.oldest_id
    from event_feed run
    where run.account_id = expired.account_id
      -- Always true, and "is true" hides the other comparison: so it uses the index in this order, even if planned on an empty table.
      and run.oldest_id >= '${lowestUuid}'
      and (run.first_position > expired.through) is true
    order by run.oldest_id
    limit 1)) as "keptFromUuid"
from expired
left join unsequenced on unsequenced.account_id = expired.account_id`;

/** One row per account. */
export function findExpiry(
  tx: Queryable,
  accounts: readonly OldEvents[],
  older: { thanUuid: string; than: Date },
): Promise<Expiry[]> {
  return tx.query({ name: 'feed_find_expiry', text }, [
    ...given.values(accounts),
    older.thanUuid,
    older.than,
  ]);
}
