import type { Queryable } from '../../../../platform/db/database.ts';
import { type EndpointKey, type EndpointRow, endpointColumns } from './endpoint-row.ts';

/** Locks until the transaction ends; serializes changes to the endpoint, its secrets and its pending deliveries. */
export async function lockEndpoint(tx: Queryable, key: EndpointKey): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_lock',
      text: `
select ${endpointColumns}
from webhook_endpoints
where account_id = $1 and id = $2
for update`,
    },
    [key.accountUuid, key.endpointUuid],
  );
  return row ?? null;
}
