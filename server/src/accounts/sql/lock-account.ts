import type { Queryable } from '../../platform/db/database.ts';
import { type AccountRow, accountColumns } from './rows.ts';

/** Held to the end of the transaction. `no key` still allows foreign keys to the account. */
export async function lockAccount(tx: Queryable, uuid: string): Promise<AccountRow | null> {
  const [row] = await tx.query<AccountRow>(
    {
      name: 'account_lock_row',
      text: `
select ${accountColumns}
from accounts
where id = $1
for no key update`,
    },
    [uuid],
  );
  return row ?? null;
}
