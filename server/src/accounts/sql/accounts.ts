import { many, one, run } from '../../platform/db/statement.ts';
import { type Move, moveOf } from '../moves/is-here.ts';

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
  closed_at: Date | null;
  /** Of a closed account. */
  closing: Closing | null;
  move: Move | null;
};

type Standing = Pick<AccountRow, 'status' | 'closed_at'>;

export const isOpen = ({ closed_at: closedAt }: Standing): boolean => closedAt === null;

/** As it is shown: a closed account keeps the status that it had. */
export const statusOf = (row: Standing): AccountStatus | 'closed' => (isOpen(row) ? row.status : 'closed');

type Closing = { terminate_esims: boolean; terminations: number; finished_ms: number | null };

const storedColumns = `id, name, api_version, status, max_webhook_endpoints, max_open_executions, requests_per_second,
  created_at`;

const accountColumns = `${storedColumns}, closed_at, ${moveOf('accounts.id')} as move,
  case when closed_at is not null then (
    select json_build_object(
      'terminate_esims', terminate_esims,
      'terminations', terminations,
      'finished_ms', floor(extract(epoch from finished_at) * 1000))
    from account_closings
    where account_id = accounts.id) end as closing`;

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
insert into accounts (${storedColumns})
values ($1, $2, $3, $4, $5, $6, $7, $8)`;

export const listAccountPage = many<AccountRow, [beforeUuid: string, count: number]>('account_list_page')`
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

export const setClosed = run<[accountUuid: string, at: Date]>('account_close')`
update accounts
set closed_at = $2
where id = $1`;

export const insertClosing = run<[accountUuid: string, terminateEsims: boolean]>('closing_insert')`
insert into account_closings (account_id, terminate_esims)
values ($1, $2)`;

/** Its closing goes on, or begins again, with the open orders. */
export const addTerminations = run<[accountUuid: string]>('closing_add_terminations')`
update account_closings
set terminate_esims = true,
    finished_at = null
where account_id = $1`;
