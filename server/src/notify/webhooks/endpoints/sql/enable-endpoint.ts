import type { Queryable } from '../../../../platform/db/database.ts';
import { type EndpointKey, type EndpointRow, endpointColumns } from './endpoint-row.ts';

/**
 * Resets the failure count even if the endpoint is already enabled: its owner has checked it. The next success is reported as
 * `recovered` if a failure was reported.
 */
export async function enableEndpointRow(tx: Queryable, key: EndpointKey): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_enable',
      text: `
update webhook_endpoints
set status = 'enabled', disabled_reason = null, disabled_at = null, failing_since = null, failure_count = 0, last_error = null,
  reported_health = case when reported_health is not null then 'enabled' end
where account_id = $1 and id = $2
returning ${endpointColumns}`,
    },
    [key.accountUuid, key.endpointUuid],
  );
  return row ?? null;
}
