import type { Queryable } from '../../../../platform/db/database.ts';
import { blockedEndpoints, queuedEndpoints } from '../../queued-endpoints.ts';
import { cancelBatchSize } from './cancel-pending.ts';
import { cancelRows, type PendingTable } from './cancel-rows.ts';

/** Locked rows of the endpoints in `idle`. */
function rowsOf(table: PendingTable, condition = ''): string {
  return `select q.ctid
  from idle
  cross join lateral (
    select ctid, account_id
    from ${table}
    where endpoint_id = idle.endpoint_id${condition}
    limit $2
    for update skip locked) q
  where q.account_id = idle.account_id`;
}

/** The CTE `idle`: those of the `pending` endpoints that are not enabled. */
function idleOf(pending: string): string {
  return `idle as materialized (
  select pending.account_id, pending.endpoint_id
  from (${pending}) pending
  where not exists (
    select from webhook_endpoints e
    where e.account_id = pending.account_id and e.id = pending.endpoint_id and e.status = 'enabled')
)`;
}

const texts: Record<PendingTable, string> = {
  delivery_queue: `
with recursive ${queuedEndpoints}, ${idleOf(`
    select account_id, endpoint_id from fresh where endpoint_id is not null
    union
    select account_id, endpoint_id from retries where endpoint_id is not null`)}, waiting as (
  ${rowsOf('delivery_queue', ' and attempt_count = 0')}
  union all
  ${rowsOf('delivery_queue', ' and attempt_count > 0')}
  limit $2
), ${cancelRows('delivery_queue', '$1')}
select 1 from canceled`,
  blocked_deliveries: `
with recursive ${blockedEndpoints}, ${idleOf(`
    select account_id, endpoint_id from blocked where endpoint_id is not null`)}, waiting as (
  ${rowsOf('blocked_deliveries')}
  limit $2
), ${cancelRows('blocked_deliveries', '$1')}
select 1 from canceled`,
};

/** Cancels one batch of pending deliveries of all disabled and deleted endpoints. */
export async function cancelUndeliverableRows(
  db: Queryable,
  table: PendingTable,
  at: Date,
): Promise<{ mayHaveMore: boolean }> {
  const name = `endpoint_cancel_undeliverable_${table}`;
  const rows = await db.query({ name, text: texts[table] }, [at, cancelBatchSize]);
  return { mayHaveMore: rows.length === cancelBatchSize };
}
