import type { Queryable } from '../../../../platform/db/database.ts';
import type { EndpointKey } from './endpoint-row.ts';

/** Also deletes its secrets. Returns false if there is no such endpoint. A chore removes its lease, which a claim may have locked. */
export async function deleteEndpointRow(tx: Queryable, key: EndpointKey): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'endpoint_delete',
      text: `
delete from webhook_endpoints
where account_id = $1 and id = $2
returning 1`,
    },
    [key.accountUuid, key.endpointUuid],
  );
  return rows.length > 0;
}
