import type { Queryable } from '../../../../platform/db/database.ts';
import { beforeFirst } from '../../../../platform/lists/keyset.ts';
import {
  type BareRow,
  blockedColumns,
  type DeliveryRow,
  historyColumns,
  type Page,
  queueColumns,
  withAttempts,
} from './delivery-row.ts';

/** One statement, so one snapshot: a delivery that ends meanwhile is still listed exactly once. */
export async function listRowsOfEvent(
  db: Queryable,
  accountUuid: string,
  eventUuid: string,
  { beforeUuid, count }: Page,
): Promise<DeliveryRow[]> {
  const rows = await db.query<BareRow>(
    {
      name: 'delivery_list_of_event',
      text: `
select *
from (
  select *
  from (select ${queueColumns} from delivery_queue where event_id = $2 offset 0) queued
  where account_id = $1 and id < $3
  union all
  select *
  from (select ${blockedColumns} from blocked_deliveries where event_id = $2 offset 0) blocked
  where account_id = $1 and id < $3
  union all
  (select ${historyColumns}
    from deliveries
    where account_id = $1 and event_id = $2 and id < $3
    order by id desc
    limit $4)
) delivery
order by id desc
limit $4`,
    },
    [accountUuid, eventUuid, beforeUuid ?? beforeFirst, count],
  );
  return withAttempts(db, accountUuid, rows);
}
