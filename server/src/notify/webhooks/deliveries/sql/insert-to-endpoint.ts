import type { Queryable } from '../../../../platform/db/database.ts';
import { type BareRow, type DeliveryRow, queueColumns } from './delivery-row.ts';

type NewDelivery = {
  uuid: string;
  eventUuid: string;
  endpointUuid: string;
  origin: 'replay' | 'retry';
  createdAt: Date;
};

/**
 * Queues the event for one endpoint; returns null if it is no longer enabled. The share lock orders this against disabling:
 * either disabling comes later and cancels this row, or it came first and no row is inserted.
 */
export async function insertToEndpoint(
  tx: Queryable,
  accountUuid: string,
  given: NewDelivery,
): Promise<DeliveryRow | null> {
  const [row] = await tx.query<BareRow>(
    {
      name: 'delivery_insert_to_endpoint',
      text: `
with endpoint as (
  select account_id, id
  from webhook_endpoints
  where account_id = $1 and id = $2 and status = 'enabled'
  for share
)
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
select account_id, $3, $4, id, $5, $6
from endpoint
returning ${queueColumns}`,
    },
    [accountUuid, given.endpointUuid, given.uuid, given.eventUuid, given.origin, given.createdAt],
  );
  return row ? { ...row, attempts: [] } : null;
}
