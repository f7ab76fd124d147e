import type { Queryable } from '../../../../platform/db/database.ts';

type Counts = { eventUuid: string; pending: number; succeeded: number; failed: number };

/** How many deliveries of each event are pending, succeeded and failed. For the queue, the account is compared outside the subquery. */
export function countByEvent(db: Queryable, accountUuid: string, eventUuids: string[]): Promise<Counts[]> {
  return db.query(
    {
      name: 'delivery_count_by_event',
      text: `
select event.id as "eventUuid", open.pending, ended.succeeded, ended.failed
from unnest($2::uuid[]) as event (id)
cross join lateral (
  select count(*)::integer as pending
  from (
    select account_id from delivery_queue where event_id = event.id
    union all
    select account_id from blocked_deliveries where event_id = event.id
    offset 0) queued
  where queued.account_id = $1
) open
cross join lateral (
  select
    count(*) filter (where status = 'succeeded')::integer as succeeded,
    count(*) filter (where status = 'failed')::integer as failed
  from deliveries
  where account_id = $1 and event_id = event.id
) ended`,
    },
    [accountUuid, eventUuids],
  );
}
