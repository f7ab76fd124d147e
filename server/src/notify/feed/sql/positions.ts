import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { many, one, run } from '../../../platform/db/statement.ts';
import { lowestUuid } from '../../../platform/ids/uuid-range.ts';

export type Pass = {
  /** How many rows it found, also those that another pass took before it; if as many as the limit, there may be more. */
  rowCount: number;
  lastId: number | null;
  accountUuids: string[];
  eventCount: number;
  /** Whether ordered deliveries wait for positions, maybe for these. */
  hasWaiting: boolean;
  /** Whether the deployment has webhook endpoints. */
  hasListeners: boolean;
  /** Every transaction with a lower id has ended. */
  oldestOpenXid: string;
  /** The pass's own transaction, if it took rows. Whoever drew the number of an earlier row has a lower id. */
  xid: string | null;
};

// Of accounts first: the trigger that fills the deployment's feed locks its head when theirs are locked.
const headOrder = `account_id = '${lowestUuid}', account_id`;

const assign = one<Pass, [afterId: number, limit: number, at: Date]>('feed_assign_positions')`
with found as materialized (
  select ctid
  from unsequenced_events
  where id > $1
  order by id
  limit $2
), taken as (
  -- Waits for a pass that has begun earlier, and then skips the rows that it took.
  delete from unsequenced_events
  where ctid = any(array(select ctid from found))
  returning id, account_id, event_ids
), runs as (
  select account_id,
    array_agg(one.event_id order by taken.id, one.number) as event_ids,
    (array_agg(one.event_id order by one.event_id))[1] as oldest_id,
    (array_agg(one.event_id order by one.event_id desc))[1] as newest_id
  from taken
  cross join lateral unnest(taken.event_ids) with ordinality as one (event_id, number)
  group by account_id
), heads as (
  insert into event_feed_heads as head (account_id, last_position, mark, newest_id)
  select account_id, cardinality(event_ids), (random() * 2147483646)::integer + 1, newest_id
  from runs
  order by ${headOrder}
  on conflict (account_id) do update
  set last_position = head.last_position + excluded.last_position,
    mark = excluded.mark,
    newest_id = greatest(head.newest_id, excluded.newest_id)
  returning account_id, last_position, mark, newest_id
), written as (
  insert into event_feed (account_id, first_position, event_ids, mark, oldest_id, newest_id, sequenced_at)
  select heads.account_id, heads.last_position - cardinality(runs.event_ids) + 1, runs.event_ids, heads.mark,
    runs.oldest_id, heads.newest_id, $3
  from heads
  join runs on runs.account_id = heads.account_id
)
select
  (select count(*)::integer from found) as "rowCount",
  (select max(id) from taken) as "lastId",
  array(select account_id::text from runs) as "accountUuids",
  (select coalesce(sum(cardinality(event_ids)), 0)::integer from runs) as "eventCount",
  -- Not a look at the deliveries that wait: while a dump runs, that would walk all that have waited since it began.
  exists (
    select from runs
    join webhook_endpoints endpoint on endpoint.account_id = runs.account_id and endpoint.ordering <> 'none'
  ) as "hasWaiting",
  exists (select from endpoint_places where account_id = '${lowestUuid}') as "hasListeners",
  pg_snapshot_xmin(pg_current_snapshot())::text as "oldestOpenXid",
  -- Not the snapshot's xmax: transactions that are still open may have higher ids than that.
  (select pg_current_xact_id()::text where exists (select from taken)) as "xid"`;

/**
 * Gives committed events their positions, in the order in which they were written. Of two passes at once, the second comes to a row
 * that the first has locked, and waits for it.
 */
export async function assignPositions(
  db: Queryable,
  { afterId, limit, at }: { afterId: number; limit: number; at: Date },
): Promise<Pass> {
  return (await assign(db, afterId, limit, at)) as Pass;
}

/** An account, and how many of its events are old enough to be deleted. */
export type OldEvents = { accountUuid: string; count: number };

export type Expiry = {
  accountUuid: string;
  /** The position up to which its feed may expire, or has expired. */
  through: number;
  /** The lowest event id that the feed needs after that, also of events that have no position yet; null if there is none. */
  keptFromUuid: string | null;
};

const oldEvents = rowsOf<OldEvents>({
  account_id: column.uuid((one) => one.accountUuid),
  count: column.integer((one) => one.count),
});
const [thanUuid, than] = [`$${oldEvents.next}`, `$${oldEvents.next + 1}`];

/** One row per account. */
export const findExpiry = many<
  Expiry,
  [accounts: readonly OldEvents[], older: { thanUuid: string; than: Date }]
>('feed_find_expiry', (accounts, older) => [...oldEvents.values(accounts), older.thanUuid, older.than])`
with recursive given as materialized (
  select given.account_id, given.count, coalesce(head.expired_through, 0) as expired_through
  from ${oldEvents.table} given
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

type Expired = { accountUuid: string; through: number };

const expirations = rowsOf<Expired>({
  account_id: column.uuid((one) => one.accountUuid),
  through: column.bigint((one) => one.through),
});

/** Expires the feeds up to these positions. A reader that is further behind gets an error. */
export const expireRuns = run<[expired: readonly Expired[]]>('feed_expire', (expired) =>
  expirations.values(expired),
)`
with locked as materialized (
  select head.account_id, head.expired_through, given.through
  from (
    -- The order in which the sequencer locks them, so that the two cannot deadlock.
    select account_id, through
    from ${expirations.table} given
    order by ${headOrder}
    offset 0) given
  cross join lateral (
    select account_id, expired_through
    from event_feed_heads
    where account_id = given.account_id and expired_through < given.through
    for no key update) head
), moved as (
  update event_feed_heads head
  set expired_through = locked.through
  from locked
  where head.account_id = locked.account_id
  returning head.account_id, locked.expired_through as before, head.expired_through as through
), removable as (
  -- From the run that was kept before: until vacuum comes, the index still has those that were deleted earlier.
  select moved.account_id, moved.through, coalesce(kept.first_position, 0) as first_position
  from moved
  left join lateral (
    select first_position
    from event_feed
    where account_id = moved.account_id and first_position <= moved.before
    order by first_position desc
    limit 1) kept on true
)
-- The run with the last expired position stays, for the mark of the cursor after it.
delete from event_feed run
using removable
-- The first two comparisons let it use the index.
where run.account_id = removable.account_id
  and run.first_position between removable.first_position and removable.through
  and run.first_position + cardinality(run.event_ids) - 1 < removable.through`;
