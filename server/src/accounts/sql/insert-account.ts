import type { Queryable } from '../../db/database.ts';
import type { AccountRow } from './rows.ts';

export async function insertAccount(db: Queryable, account: AccountRow): Promise<void> {
  await db.query(
    {
      name: 'account_insert',
      text: `
insert into accounts (id, name, api_version, created_at)
values ($1, $2, $3, $4)`,
    },
    [account.id, account.name, account.api_version, account.created_at],
  );
}
