import type { Queryable } from '../../../../platform/db/database.ts';
import type { EndpointKey, EndpointRow } from './endpoint-row.ts';

export async function updateEndpointFields(
  tx: Queryable,
  key: EndpointKey,
  row: Pick<EndpointRow, 'url' | 'enabled_event_types' | 'description' | 'metadata' | 'ordering'>,
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_update',
      text: `
update webhook_endpoints
set url = $3, enabled_event_types = $4, description = $5, metadata = $6, ordering = $7
where account_id = $1 and id = $2`,
    },
    [
      key.accountUuid,
      key.endpointUuid,
      row.url,
      row.enabled_event_types,
      row.description,
      JSON.stringify(row.metadata),
      row.ordering,
    ],
  );
}
