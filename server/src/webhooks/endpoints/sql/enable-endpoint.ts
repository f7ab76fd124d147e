import type { Queryable } from '../../../db/database.ts';
import { type EndpointKey, type EndpointRow, endpointColumns } from './endpoint-row.ts';

/** Resets the failure count even if the endpoint is already enabled: its owner has checked it. */
export async function enableEndpointRow(tx: Queryable, key: EndpointKey): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_enable',
      text: `
update webhook_endpoints
set status = 'enabled', disabled_reason = null, disabled_at = null, failing_since = null, failure_count = 0
where account_id = $1 and id = $2
returning ${endpointColumns}`,
    },
    [key.accountUuid, key.endpointUuid],
  );
  return row ?? null;
}
