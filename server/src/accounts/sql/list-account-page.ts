import type { Queryable } from '../../platform/db/database.ts';
import { beforeFirst } from '../../platform/lists/keyset.ts';
import { type AccountRow, accountColumns } from './rows.ts';

export function listAccountPage(
  db: Queryable,
  page: { beforeUuid: string | null; count: number },
): Promise<AccountRow[]> {
  return db.query(
    {
      name: 'account_list_page',
      text: `
select ${accountColumns}
from accounts
where id < $1
order by id desc
limit $2`,
    },
    [page.beforeUuid ?? beforeFirst, page.count],
  );
}
