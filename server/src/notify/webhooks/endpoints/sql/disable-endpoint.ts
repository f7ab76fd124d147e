import type { Queryable } from '../../../../platform/db/database.ts';
import { type EndpointKey, type EndpointRow, endpointColumns } from './endpoint-row.ts';

/**
 * Returns null if the endpoint is deleted or already disabled. `reason` is null when the owner disables it. With a `reason`
 * (the service disables it) nothing changes if a success or `enable` has cleared `failing_since` meanwhile.
 */
export async function disableEndpointRow(
  tx: Queryable,
  key: EndpointKey,
  { reason, at }: { reason: string | null; at: Date },
): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_disable',
      text: `
update webhook_endpoints
set status = 'disabled', disabled_reason = $3, disabled_at = $4,
  reported_health = case when $3::text is null then reported_health else 'failing' end
where account_id = $1 and id = $2 and status = 'enabled' and ($3::text is null or failing_since is not null)
returning ${endpointColumns}`,
    },
    [key.accountUuid, key.endpointUuid, reason, at],
  );
  return row ?? null;
}
