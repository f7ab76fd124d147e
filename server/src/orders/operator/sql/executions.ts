import type { Queryable } from '../../../platform/db/database.ts';
import { exists, many, one, run } from '../../../platform/db/statement.ts';
import type { IdPage } from '../../../platform/lists/keyset.ts';
import { type ListFilter, listStatement } from '../../executions/list-statement.ts';
import type { ExecutionRow } from '../../executions/present.ts';
import { endedColumns, openColumns } from '../../executions/sql-parts.ts';

/** An execution of any account, with what only the operator sees. */
export type AnyExecutionRow = ExecutionRow & {
  account_id: string;
  progress: Record<string, unknown>;
  /** Without the lease of a worker that is gone. */
  leased_until: Date | null;
  failure_group: string | null;
  resolution: ResolutionRow | null;
};

/** As JSON: times are ISO texts. */
type ResolutionRow = {
  outcome: 'reserved' | 'not_reserved';
  action: 'adopt' | 'cancel' | null;
  iccid: string | null;
  decided_by: { type: 'api_key' | 'operator' | 'command_line'; id: string | null; name: string | null };
  decided_at: string;
  closed_at: string | null;
  error: { code: string; message: string; upstream?: Record<string, string> } | null;
  attempts: number;
};

/** `AnyExecutionRow` from the history. Secrets are left out: only their sealed form is in the progress. */
const anyEndedColumns = `account_id, ${endedColumns}, progress - 'matching_id' as progress,
  null::timestamptz as leased_until, failure_group,
  case when status = 'failed' then (
    select to_jsonb(r)
    from execution_resolutions r
    where r.account_id = executions.account_id and r.execution_id = executions.id
  ) end as resolution`;

/** `AnyExecutionRow` from the queue. */
const anyOpenColumns = `account_id, ${openColumns}, progress - 'matching_id' as progress,
  case when leased_until > now() then leased_until end as leased_until, null as failure_group,
  null::jsonb as resolution`;

/** Finds an execution by its id alone: one look-up per account and table, since their keys begin with the account. */
export const findAnyExecution = one<AnyExecutionRow, [uuid: string]>('operator_execution_find')`
select found.*
from accounts
cross join lateral (
  select ${anyEndedColumns}
  from executions
  where account_id = accounts.id and id = $1
  union all
  select ${anyOpenColumns}
  from execution_queue
  where account_id = accounts.id and id = $1
) found`;

const shape = { account: 'accounts.id', ended: anyEndedColumns, open: anyOpenColumns };

/** Reads a page of each account, or of one, and merges them. So it needs no index besides those of the accounts' own lists. */
export function listAnyExecutions(
  db: Queryable,
  { accountUuid, ...filter }: ListFilter & { accountUuid: string | null },
  page: IdPage,
): Promise<AnyExecutionRow[]> {
  const { name, text, values } = listStatement(filter, page, accountUuid, shape);
  const statement = {
    name: `operator_${name}${accountUuid === null ? '' : '_of_account'}`,
    text: `
select page.*
from accounts
cross join lateral (${text}) page
where ${accountUuid === null ? '$1::uuid is null' : 'accounts.id = $1::uuid'}
order by page.id desc
limit $3`,
  };
  return db.query(statement, values);
}

/** Makes an execution that waits due now. False if a worker holds it, or it has ended. */
export const makeExecutionDue = exists<[accountUuid: string, uuid: string]>('execution_make_due')`
update execution_queue
set due_at = least(due_at, now())
where account_id = $1
  and id = $2
  and (leased_until is null or leased_until <= now())
returning 1`;

type FailedRow = {
  input: Record<string, unknown>;
  progress: Record<string, unknown>;
  retried_by: string | null;
  is_resolved: boolean;
};

const lockRow = exists<[accountUuid: string, uuid: string]>('execution_lock_failed')`
select 1
from executions
where account_id = $1 and id = $2 and status = 'failed'
for update`;

const readFailed = one<FailedRow, [accountUuid: string, uuid: string]>('execution_read_failed')`
select
  input,
  progress,
  retried_by,
  exists (
    select
    from execution_resolutions r
    where r.account_id = e.account_id and r.execution_id = e.id
  ) as is_resolved
from executions e
where account_id = $1 and id = $2`;

/** Locks a failed execution until the transaction ends, so that only one decision is made about it. */
export async function lockFailed(
  tx: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<FailedRow | null> {
  if (!(await lockRow(tx, accountUuid, uuid))) return null;
  // In a statement of its own, which sees the decision of the lock's last holder.
  return readFailed(tx, accountUuid, uuid);
}

/** Takes a failed execution out of its group, and stores which execution was started in its place, if one was. */
export const closeFailed = run<[failed: { accountUuid: string; uuid: string; retriedBy: string | null }]>(
  'execution_close_failed',
  ({ accountUuid, uuid, retriedBy }) => [accountUuid, uuid, retriedBy],
)`
update executions
set retried_by = $3,
    failure_group = null
where account_id = $1 and id = $2`;

type NewResolution = Pick<ResolutionRow, 'outcome' | 'action' | 'iccid' | 'decided_by'> & {
  accountUuid: string;
  executionUuid: string;
  at: Date;
};

/** Only a cancellation leaves work to do. */
export const insertResolution = run<[row: NewResolution]>('execution_insert_resolution', (row) => [
  row.accountUuid,
  row.executionUuid,
  row.outcome,
  row.action,
  row.iccid,
  JSON.stringify(row.decided_by),
  row.at,
  row.action === 'cancel' ? null : row.at,
])`
insert into execution_resolutions
  (account_id, execution_id, outcome, action, iccid, decided_by, decided_at, closed_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`;

/** A profile to give back, held by one worker. */
export type ClaimedReturn = {
  account_id: string;
  execution_id: string;
  iccid: string;
  /** The device that the order was for. */
  eid: string | null;
  fence: number;
  attempts: number;
};

/** Claims profiles that an operator decided to give back, of all accounts. */
export const claimReturns = many<ClaimedReturn, [count: number, leaseMs: number]>('operator_claim_returns')`
with due as materialized (
  select ctid
  from execution_resolutions
  where closed_at is null
    and due_at <= now()
    and (leased_until is null or leased_until <= now())
  order by due_at
  limit $1
  for update skip locked
)
update execution_resolutions r
set fence = r.fence + 1,
    attempts = r.attempts + 1,
    leased_until = now() + $2::integer * interval '1 millisecond'
where r.ctid = any(array(select ctid from due))
returning
  r.account_id,
  r.execution_id,
  r.iccid,
  (
    select input ->> 'eid'
    from executions e
    where e.account_id = r.account_id and e.id = r.execution_id
  ) as eid,
  r.fence,
  r.attempts`;

type Settled = {
  /** Null if it is tried again after the delay. */
  closedAt: Date | null;
  delayMs: number;
  error: object | null;
};

/** Writes nothing if another worker has claimed the return since. */
export const settleReturn = run<[claimed: ClaimedReturn, settled: Settled]>(
  'execution_settle_return',
  ({ account_id, execution_id, fence }, { closedAt, delayMs, error }) => [
    account_id,
    execution_id,
    fence,
    closedAt,
    delayMs,
    error && JSON.stringify(error),
  ],
)`
update execution_resolutions
set closed_at = $4,
    due_at = now() + $5::integer * interval '1 millisecond',
    leased_until = null,
    error = $6
where account_id = $1
  and execution_id = $2
  and fence = $3
  and closed_at is null`;
