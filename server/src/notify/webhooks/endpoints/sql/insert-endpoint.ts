import type { Queryable } from '../../../../platform/db/database.ts';
import type { EndpointRow } from './endpoint-row.ts';

export async function insertEndpoint(tx: Queryable, accountUuid: string, row: EndpointRow): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_insert',
      text: `
insert into webhook_endpoints
  (account_id, id, url, enabled_event_types, description, metadata, ordering, status, api_version, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    },
    [
      accountUuid,
      row.id,
      row.url,
      row.enabled_event_types,
      row.description,
      JSON.stringify(row.metadata),
      row.ordering,
      row.status,
      row.api_version,
      row.created_at,
    ],
  );
}
