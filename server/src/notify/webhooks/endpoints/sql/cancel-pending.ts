import type { Queryable } from '../../../../platform/db/database.ts';
import { cancelRows, type PendingTable } from './cancel-rows.ts';
import type { EndpointKey } from './endpoint-row.ts';

// 1,000 rows take 30 ms. 10,000 exceeded the statement timeout of 10 s on a busy machine, so the endpoint could not be disabled.
export const cancelBatchSize = 1_000;

/** The account is compared outside the subquery. Inside, a plan may read the account's whole queue by the primary key. */
function rowsOf(table: PendingTable, condition = ''): string {
  return `(
    select ctid, account_id
    from ${table}
    where endpoint_id = $2${condition}
    limit $4
    for update skip locked)`;
}

const tables: Record<PendingTable, string> = {
  delivery_queue: `(
    select * from ${rowsOf('delivery_queue', ' and attempt_count = 0')} fresh
    union all
    select * from ${rowsOf('delivery_queue', ' and attempt_count > 0')} retries)`,
  blocked_deliveries: rowsOf('blocked_deliveries'),
};

/**
 * Cancels pending deliveries of a disabled or deleted endpoint. Skips rows a sender is settling, because that sender may be
 * waiting for the endpoint's lock. `cancelUndeliverable` cancels those and any beyond the batch size.
 */
export async function cancelPendingDeliveries(tx: Queryable, key: EndpointKey, at: Date): Promise<void> {
  // Blocked ones first, because they may move to the queue meanwhile.
  for (const table of ['blocked_deliveries', 'delivery_queue'] as const) {
    await tx.query(
      {
        name: `endpoint_cancel_pending_${table}`,
        text: `
with waiting as (
  select ctid
  from ${tables[table]} pending
  where account_id = $1
  limit $4
), ${cancelRows(table, '$3')}
select 1`,
      },
      [key.accountUuid, key.endpointUuid, at, cancelBatchSize],
    );
  }
}
