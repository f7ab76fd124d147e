import type { Queryable } from '../../platform/db/database.ts';
import { type AccountRow, accountColumns } from './rows.ts';

export function listAccountRows(db: Queryable): Promise<AccountRow[]> {
  return db.query({
    name: 'account_list',
    text: `
select ${accountColumns}
from accounts
order by id`,
  });
}
