import type { Queryable } from '../../platform/db/database.ts';
import { type AccountRow, accountColumns } from './rows.ts';

export async function insertAccount(db: Queryable, account: AccountRow): Promise<void> {
  await db.query(
    {
      name: 'account_insert',
      text: `
insert into accounts (${accountColumns})
values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    },
    [
      account.id,
      account.name,
      account.api_version,
      account.status,
      account.max_webhook_endpoints,
      account.max_open_executions,
      account.requests_per_second,
      account.created_at,
    ],
  );
}
