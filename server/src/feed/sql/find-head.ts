import type { Queryable } from '../../db/database.ts';

export type Head = {
  position: number;
  mark: number;
  /** Events up to this position have been removed. */
  expiredThrough: number;
};

const empty: Head = { position: 0, mark: 0, expiredThrough: 0 };

/** The end of the account's feed. */
export async function findHead(db: Queryable, accountUuid: string): Promise<Head> {
  const [head] = await db.query<Head>(
    {
      name: 'feed_head',
      text: `
select last_position as position, mark, expired_through as "expiredThrough"
from event_feed_heads
where account_id = $1`,
    },
    [accountUuid],
  );
  return head ?? empty;
}
