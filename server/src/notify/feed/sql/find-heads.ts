import type { Queryable } from '../../../platform/db/database.ts';

/** The last position of each of these accounts that has events. */
export function findHeads(
  db: Queryable,
  accountUuids: string[],
): Promise<{ accountUuid: string; position: number }[]> {
  return db.query(
    {
      name: 'feed_heads',
      text: `
select account_id as "accountUuid", last_position as position
from event_feed_heads
where account_id = any($1::uuid[])`,
    },
    [accountUuids],
  );
}
