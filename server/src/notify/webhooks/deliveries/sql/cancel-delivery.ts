import type { Queryable } from '../../../../platform/db/database.ts';
import { type BareRow, historyColumns } from './delivery-row.ts';

/** A pending delivery that was canceled, and the ICCID whose later events may have waited for it. */
export type CanceledDelivery = BareRow & { order_key: string | null };

const columns = 'account_id, id, event_id, endpoint_id, origin, created_at, order_key';

/** Returns null if it was not pending in this statement's snapshot. An attempt in progress goes on; its result is dropped. */
export async function cancelDelivery(
  tx: Queryable,
  accountUuid: string,
  { uuid, at }: { uuid: string; at: Date },
): Promise<CanceledDelivery | null> {
  const [row] = await tx.query<CanceledDelivery>(
    {
      name: 'delivery_cancel',
      text: `
with queued as (
  delete from delivery_queue
  where account_id = $1 and id = $2
  returning ${columns}, attempt_count
), blocked as (
  delete from blocked_deliveries
  where account_id = $1 and id = $2
  returning ${columns}, 0 as attempt_count
), removed as (
  select * from queued
  union all
  select * from blocked
), canceled as (
  insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
  select account_id, id, event_id, endpoint_id, 'canceled', origin, attempt_count, created_at, $3
  from removed
  returning ${historyColumns}
)
select canceled.*, removed.order_key
from canceled
join removed on removed.account_id = canceled.account_id and removed.id = canceled.id`,
    },
    [accountUuid, uuid, at],
  );
  return row ?? null;
}
