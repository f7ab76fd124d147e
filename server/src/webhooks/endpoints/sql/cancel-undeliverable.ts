import type { Queryable } from '../../../db/database.ts';
import { queuedEndpoints } from '../../queued-endpoints.ts';
import { cancelBatchSize } from './cancel-pending.ts';
import { cancelRows } from './cancel-rows.ts';

/** Locked rows of the endpoints in `idle`. */
function rowsWhere(condition: string): string {
  return `select q.ctid
  from idle
  cross join lateral (
    select ctid, account_id
    from delivery_queue
    where endpoint_id = idle.endpoint_id and ${condition}
    limit $2
    for update skip locked) q
  where q.account_id = idle.account_id`;
}

/** Cancels one batch of pending deliveries of all disabled and deleted endpoints. */
export async function cancelUndeliverableRows(db: Queryable, at: Date): Promise<{ mayHaveMore: boolean }> {
  const rows = await db.query(
    {
      name: 'endpoint_cancel_undeliverable',
      text: `
with recursive ${queuedEndpoints}, idle as materialized (
  -- Endpoints with queued deliveries that are not enabled.
  select queued.account_id, queued.endpoint_id
  from (
    select account_id, endpoint_id from fresh where endpoint_id is not null
    union
    select account_id, endpoint_id from retries where endpoint_id is not null) queued
  where not exists (
    select from webhook_endpoints e
    where e.account_id = queued.account_id and e.id = queued.endpoint_id and e.status = 'enabled')
), waiting as (
  ${rowsWhere('attempt_count = 0')}
  union all
  ${rowsWhere('attempt_count > 0')}
  limit $2
), ${cancelRows('$1')}
select 1 from canceled`,
    },
    [at, cancelBatchSize],
  );
  return { mayHaveMore: rows.length === cancelBatchSize };
}
