import type { Queryable } from '../../../platform/db/database.ts';

/** When the last counted event happened, or null if all events are counted. Events that the feed has removed are never counted. */
export async function findCountedTo(db: Queryable, accountUuid: string): Promise<Date | null> {
  const [row] = await db.query<{ countedTo: Date | null }>(
    {
      name: 'overview_find_counted_to',
      text: `
select
  case
    when head.last_position > greatest(counted.position, head.expired_through)
    then coalesce(counted.counted_to, 'epoch')
  end as "countedTo"
from event_feed_heads head
left join counted_events counted on counted.account_id = head.account_id
where head.account_id = $1`,
    },
    [accountUuid],
  );
  return row?.countedTo ?? null;
}
