import type { Queryable } from '../../../../platform/db/database.ts';
import { beforeFirst } from '../../../../platform/lists/keyset.ts';
import { type EndpointRow, endpointColumns } from './endpoint-row.ts';

export function listEndpointRows(
  db: Queryable,
  accountUuid: string,
  page: { beforeUuid: string | null; count: number },
): Promise<EndpointRow[]> {
  return db.query(
    {
      name: 'endpoint_list',
      text: `
select ${endpointColumns}
from webhook_endpoints
where account_id = $1 and id < $2
order by id desc
limit $3`,
    },
    [accountUuid, page.beforeUuid ?? beforeFirst, page.count],
  );
}
