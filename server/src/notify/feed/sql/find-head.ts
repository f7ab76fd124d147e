import type { Queryable } from '../../../platform/db/database.ts';

export type Head = {
  position: number;
  mark: number;
  /** Events up to this position have been removed. */
  expiredThrough: number;
};

const empty: Head = { position: 0, mark: 0, expiredThrough: 0 };

const text = `
select last_position as position, mark, expired_through as "expiredThrough"
from event_feed_heads
where account_id = $1`;

/** The end of the account's feed. */
export async function findHead(db: Queryable, accountUuid: string): Promise<Head> {
  const [head] = await db.query<Head>({ name: 'feed_head', text }, [accountUuid]);
  return head ?? empty;
}

/** Like `findHead`, but fails on a server that takes no writes, where the end may be an old one. */
export async function findCurrentHead(db: Queryable, accountUuid: string): Promise<Head> {
  const [head] = await db.query<Head>({ name: 'feed_head_current', text: `${text}\nfor key share` }, [
    accountUuid,
  ]);
  return head ?? empty;
}
