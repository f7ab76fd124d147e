import type { Queryable } from '../../../platform/db/database.ts';

/** The mark of a position; null if the feed does not reach back to it. The caller checks that it does not end before it. */
export async function findMark(db: Queryable, accountUuid: string, position: number): Promise<number | null> {
  const [run] = await db.query<{ mark: number }>(
    {
      name: 'feed_mark',
      text: `
select mark
from event_feed
where account_id = $1 and first_position <= $2
order by first_position desc
limit 1`,
    },
    [accountUuid, position],
  );
  return run?.mark ?? null;
}
