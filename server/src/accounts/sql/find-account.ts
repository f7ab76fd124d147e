import type { Queryable } from '../../platform/db/database.ts';
import { type AccountRow, accountColumns } from './rows.ts';

export async function findAccount(db: Queryable, uuid: string): Promise<AccountRow | null> {
  const [row] = await db.query<AccountRow>(
    {
      name: 'account_find',
      text: `
select ${accountColumns}
from accounts
where id = $1`,
    },
    [uuid],
  );
  return row ?? null;
}
