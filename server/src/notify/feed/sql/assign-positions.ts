import type { Queryable } from '../../../platform/db/database.ts';

const text = `
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
  order by account_id
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
  pg_snapshot_xmin(pg_current_snapshot())::text as "oldestOpenXid",
  -- Not the snapshot's xmax: transactions that are still open may have higher ids than that.
  (select pg_current_xact_id()::text where exists (select from taken)) as "xid"`;

export type Pass = {
  /** How many rows it found, also those that another pass took before it; if as many as the limit, there may be more. */
  rowCount: number;
  lastId: number | null;
  accountUuids: string[];
  eventCount: number;
  /** Whether ordered deliveries wait for positions, maybe for these. */
  hasWaiting: boolean;
  /** Every transaction with a lower id has ended. */
  oldestOpenXid: string;
  /** The pass's own transaction, if it took rows. Whoever drew the number of an earlier row has a lower id. */
  xid: string | null;
};

/**
 * Gives committed events their positions, in the order in which they were written. Of two passes at once, the second comes to a row
 * that the first has locked, and waits for it.
 */
export async function assignPositions(
  db: Queryable,
  { afterId, limit, at }: { afterId: number; limit: number; at: Date },
): Promise<Pass> {
  const [pass] = await db.query<Pass>({ name: 'feed_assign_positions', text }, [afterId, limit, at]);
  return pass as Pass;
}
