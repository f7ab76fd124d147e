import type { Queryable } from '../../platform/db/database.ts';
import type { AccountRow } from './rows.ts';

/** Writes the fields that can change. The caller has locked the account. */
export async function saveAccount(tx: Queryable, account: AccountRow): Promise<void> {
  await tx.query(
    {
      name: 'account_save',
      text: `
update accounts
set name = $2, status = $3, max_webhook_endpoints = $4, max_open_executions = $5, requests_per_second = $6
where id = $1`,
    },
    [
      account.id,
      account.name,
      account.status,
      account.max_webhook_endpoints,
      account.max_open_executions,
      account.requests_per_second,
    ],
  );
}
