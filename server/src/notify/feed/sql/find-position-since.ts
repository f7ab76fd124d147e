import type { Queryable } from '../../../platform/db/database.ts';

/** The position of the first event whose id is not below `fromUuid`; null if there is none yet. */
export async function findPositionSince(
  db: Queryable,
  accountUuid: string,
  fromUuid: string,
): Promise<number | null> {
  const [found] = await db.query<{ position: number | null }>(
    {
      name: 'feed_position_since',
      text: `
select (
  select min(run.first_position + one.number - 1)
  from unnest(run.event_ids) with ordinality as one (event_id, number)
  where one.event_id >= $2) as position
from event_feed run
where run.account_id = $1 and run.newest_id >= $2
order by run.newest_id, run.first_position
limit 1`,
    },
    [accountUuid, fromUuid],
  );
  return found?.position ?? null;
}
