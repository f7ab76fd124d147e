import type { Queryable } from '../../../../platform/db/database.ts';
import { type EndpointKey, type EndpointRow, endpointColumns } from './endpoint-row.ts';

export async function findEndpoint(db: Queryable, key: EndpointKey): Promise<EndpointRow | null> {
  const [row] = await db.query<EndpointRow>(
    {
      name: 'endpoint_find',
      text: `
select ${endpointColumns}
from webhook_endpoints
where account_id = $1 and id = $2`,
    },
    [key.accountUuid, key.endpointUuid],
  );
  return row ?? null;
}
