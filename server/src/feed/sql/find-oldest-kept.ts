import type { Queryable } from '../../db/database.ts';

/** The lowest event id that the feed still needs, also of events that have no position yet; null if there is none. */
export async function findOldestKept(db: Queryable, accountUuid: string): Promise<string | null> {
  const [row] = await db.query<{ oldest: string | null }>(
    {
      name: 'feed_oldest_kept',
      text: `
select least(
  (select run.oldest_id
    from event_feed run
    where run.account_id = $1 and run.first_position > (
      select expired_through
      from event_feed_heads
      where account_id = $1)
    order by run.oldest_id
    limit 1),
  (select event_id
    from unsequenced_events
    cross join lateral unnest(event_ids) as one (event_id)
    where account_id = $1
    order by event_id
    limit 1)) as oldest`,
    },
    [accountUuid],
  );
  return row?.oldest ?? null;
}
