import type { Queryable } from '../../../../platform/db/database.ts';

/** Makes a blocked delivery due now. From then on it neither waits for others nor do others wait for it. */
export async function unblockDelivery(tx: Queryable, accountUuid: string, uuid: string): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'delivery_unblock',
      text: `
with unblocked as (
  delete from blocked_deliveries
  where account_id = $1 and id = $2
  returning account_id, id, event_id, endpoint_id, origin, created_at
)
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
select account_id, id, event_id, endpoint_id, origin, created_at
from unblocked
returning 1`,
    },
    [accountUuid, uuid],
  );
  return rows.length > 0;
}
