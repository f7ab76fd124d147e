import type { Queryable } from '../../../../platform/db/database.ts';
import { type BareRow, type DeliveryRow, queueColumns } from './delivery-row.ts';

/** Queues the event for every endpoint that is currently enabled and subscribed, except the one it is about. */
export async function insertToSubscribers(
  tx: Queryable,
  accountUuid: string,
  given: { eventUuid: string; subscriptions: string[]; exceptEndpointUuid: string | null; createdAt: Date },
): Promise<DeliveryRow[]> {
  const rows = await tx.query<BareRow>(
    {
      name: 'delivery_insert_to_subscribers',
      text: `
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
select account_id, uuid_v7($3), $2, id, 'replay', $3
from webhook_endpoints
where account_id = $1 and status = 'enabled' and enabled_event_types && $4::text[]
  and id is distinct from $5::uuid
returning ${queueColumns}`,
    },
    [accountUuid, given.eventUuid, given.createdAt, given.subscriptions, given.exceptEndpointUuid],
  );
  return rows.map((row) => ({ ...row, attempts: [] }));
}
