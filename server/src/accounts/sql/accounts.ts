import { many, one, run } from '../../platform/db/statement.ts';
import { beforeFirst } from '../../platform/lists/keyset.ts';

type AccountStatus = 'active' | 'suspended';

/** Null limits are those of the deployment. */
export type AccountLimits = {
  max_webhook_endpoints: number | null;
  max_open_executions: number | null;
  requests_per_second: number | null;
};

export type AccountRow = AccountLimits & {
  id: string;
  name: string;
  api_version: string;
  status: AccountStatus;
  created_at: Date;
};

const accountColumns = `id, name, api_version, status, max_webhook_endpoints, max_open_executions, requests_per_second,
  created_at`;

export const findAccount = one<AccountRow, [uuid: string]>('account_find')`
select ${accountColumns}
from accounts
where id = $1`;

export const insertAccount = run<[account: AccountRow]>('account_insert', (account) => [
  account.id,
  account.name,
  account.api_version,
  account.status,
  account.max_webhook_endpoints,
  account.max_open_executions,
  account.requests_per_second,
  account.created_at,
])`
insert into accounts (${accountColumns})
values ($1, $2, $3, $4, $5, $6, $7, $8)`;

export const listAccountPage = many<AccountRow, [page: { beforeUuid: string | null; count: number }]>(
  'account_list_page',
  (page) => [page.beforeUuid ?? beforeFirst, page.count],
)`
select ${accountColumns}
from accounts
where id < $1
order by id desc
limit $2`;

export const listAccountRows = many<AccountRow>('account_list')`
select ${accountColumns}
from accounts
order by id`;

/** For a change of the account itself; otherwise `lockAccount`. */
export const lockAccountRow = one<AccountRow, [uuid: string]>('account_lock_row')`
select ${accountColumns}
from accounts
where id = $1
for no key update`;

/** Held to the end of the transaction, so that processes starting together create only one sandbox account. */
export const lockAccounts = run('account_lock')`lock table accounts in share row exclusive mode`;

/** Writes the fields that can change. The caller has locked the account. */
export const saveAccount = run<[account: AccountRow]>('account_save', (account) => [
  account.id,
  account.name,
  account.status,
  account.max_webhook_endpoints,
  account.max_open_executions,
  account.requests_per_second,
])`
update accounts
set name = $2, status = $3, max_webhook_endpoints = $4, max_open_executions = $5, requests_per_second = $6
where id = $1`;
