import type { Queryable } from '../../../db/database.ts';
import { cancelRows } from './cancel-rows.ts';
import type { EndpointKey } from './endpoint-row.ts';

// 1,000 rows take 30 ms. 10,000 exceeded the statement timeout of 10 s on a busy machine, so the endpoint could not be disabled.
export const cancelBatchSize = 1_000;

/** The account is compared outside the subquery. Inside, a plan may read the account's whole queue by the primary key. */
function rowsWhere(condition: string): string {
  return `(
    select ctid, account_id
    from delivery_queue
    where endpoint_id = $2 and ${condition}
    limit $4
    for update skip locked)`;
}

/**
 * Cancels pending deliveries of a disabled or deleted endpoint. Skips rows a sender is settling, because that sender may be
 * waiting for the endpoint's lock. `cancelUndeliverable` cancels those and any beyond the batch size.
 */
export async function cancelPendingDeliveries(tx: Queryable, key: EndpointKey, at: Date): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_cancel_pending',
      text: `
with waiting as (
  select ctid
  from (
    select * from ${rowsWhere('attempt_count = 0')} fresh
    union all
    select * from ${rowsWhere('attempt_count > 0')} retries) queued
  where account_id = $1
  limit $4
), ${cancelRows('$3')}
select 1`,
    },
    [key.accountUuid, key.endpointUuid, at, cancelBatchSize],
  );
}
