import type { Queryable } from '../../db/database.ts';

const text = `
with head as (
  select last_position, expired_through
  from event_feed_heads
  where account_id = $1
), candidates as (
  select run.first_position, run.first_position + cardinality(run.event_ids) - 1 as last_position,
    -- One clock may have been wrong; either makes it old.
    run.newest_id < $2 or run.sequenced_at < $3 as is_old
  from event_feed run
  where run.account_id = $1 and run.first_position > (select expired_through from head)
  order by run.first_position
  limit $4
), expired as (
  -- From the front only: nothing is removed behind something that is kept.
  select max(last_position) as through, count(*)::integer as run_count
  from candidates
  where first_position < coalesce(
    (select min(first_position) from candidates where not is_old),
    (select last_position + 1 from head))
), moved as (
  update event_feed_heads
  set expired_through = expired.through
  from expired
  where account_id = $1 and expired.through > expired_through
  returning expired_through
), removed as (
  -- The run with the last expired position stays, for the mark of the cursor after it.
  delete from event_feed run
  using moved
  -- The first comparison lets it use the index.
  where run.account_id = $1 and run.first_position < moved.expired_through
    and run.first_position + cardinality(run.event_ids) - 1 < moved.expired_through
)
select run_count as "runCount"
from expired`;

type Older = { accountUuid: string; thanUuid: string; than: Date; count: number };

/**
 * Expires at most `count` runs whose events are old enough to be deleted. Call it before the events are deleted: a reader then gets
 * an error instead of a gap. Returns how many runs it expired.
 */
export async function expireRuns(
  db: Queryable,
  { accountUuid, thanUuid, than, count }: Older,
): Promise<number> {
  const [row] = await db.query<{ runCount: number }>({ name: 'feed_expire', text }, [
    accountUuid,
    thanUuid,
    than,
    count,
  ]);
  return row?.runCount ?? 0;
}
