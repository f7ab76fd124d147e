import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';

type Expired = { accountUuid: string; through: number };

const given = rowsOf<Expired>({
  account_id: column.uuid((one) => one.accountUuid),
  through: column.bigint((one) => one.through),
});

const text = `
with locked as materialized (
  select head.account_id, head.expired_through, given.through
  from (
    -- The order in which the sequencer locks them, so that the two cannot deadlock.
    select account_id, through
    from ${given.table} given
    order by account_id
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

/** Expires the feeds up to these positions. A reader that is further behind gets an error. */
export async function expireRuns(tx: Queryable, expired: readonly Expired[]): Promise<void> {
  await tx.query({ name: 'feed_expire', text }, given.values(expired));
}
