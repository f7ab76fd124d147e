import type { Queryable } from '../../platform/db/database.ts';
import { type ApiKeyRow, keyColumns } from './rows.ts';

export function listKeyRows(db: Queryable, accountUuid: string | null): Promise<ApiKeyRow[]> {
  return db.query(
    {
      name: 'api_key_list',
      text: `
select ${keyColumns}
from api_keys
where $1::uuid is null or account_id = $1
order by account_id, id`,
    },
    [accountUuid],
  );
}
