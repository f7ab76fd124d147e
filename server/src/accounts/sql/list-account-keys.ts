import type { Queryable } from '../../platform/db/database.ts';
import { beforeFirst } from '../../platform/lists/keyset.ts';
import { type ApiKeyRow, keyColumns } from './rows.ts';

export function listAccountKeys(
  db: Queryable,
  accountUuid: string,
  page: { beforeUuid: string | null; count: number },
): Promise<ApiKeyRow[]> {
  return db.query(
    {
      name: 'api_key_list_of_account',
      text: `
select ${keyColumns}
from api_keys
where account_id = $1 and id < $2
order by id desc
limit $3`,
    },
    [accountUuid, page.beforeUuid ?? beforeFirst, page.count],
  );
}
