import type { Queryable } from '../../../../platform/db/database.ts';
import {
  type BareRow,
  blockedColumns,
  type DeliveryRow,
  historyColumns,
  queueColumns,
  withAttempts,
} from './delivery-row.ts';

export async function findDelivery(
  db: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<DeliveryRow | null> {
  const rows = await db.query<BareRow>(
    {
      name: 'delivery_find',
      text: `
select ${queueColumns}
from delivery_queue
where account_id = $1 and id = $2
union all
select ${blockedColumns}
from blocked_deliveries
where account_id = $1 and id = $2
union all
select ${historyColumns}
from deliveries
where account_id = $1 and id = $2`,
    },
    [accountUuid, uuid],
  );
  const [row] = await withAttempts(db, accountUuid, rows);
  return row ?? null;
}
