import type { Execution, ExecutionStatus, ExecutionType, Price } from '@simplane/contract';
import { lockAccount } from '../../../accounts/lock-account.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { many, one, run, single } from '../../../platform/db/statement.ts';
import { beforeFirst, type IdPage, pageOfValue } from '../../../platform/lists/keyset.ts';
import { type ListFilter, listStatement } from '../list-statement.ts';
import { dueAt, endedColumns, openColumns } from '../sql-parts.ts';
import type { NewExecution } from './accept.ts';

export type ExecutionError = NonNullable<Execution['error']>;

/** An open or ended execution as the API shows it. */
export type ExecutionRow = {
  id: string;
  type: ExecutionType;
  status: ExecutionStatus;
  product_id: string | null;
  iccid: string | null;
  reference: string | null;
  /** Null for what has no price, and for orders that a release without prices has accepted. */
  price: Price | null;
  error: ExecutionError | null;
  attempts: number;
  created_at: Date;
  finished_at: Date | null;
  /** A `WaitingCause`; null while a worker holds it and once it has ended. */
  waiting_for: string | null;
  next_attempt_at: Date | null;
  /** The failed execution that it repeats or continues, as a uuid. */
  retry_of: string | null;
  /** The execution that was started in its place, as a uuid. */
  retried_by: string | null;
  /** The batch that the order belongs to, as a uuid. */
  batch_id: string | null;
};

/** One statement, so one snapshot: an execution that ends meanwhile is still found once. */
export const findExecution = one<ExecutionRow, [accountUuid: string, uuid: string]>('execution_find')`
select ${endedColumns}
from executions
where account_id = $1 and id = $2
union all
select ${openColumns}
from execution_queue
where account_id = $1 and id = $2`;

export function listExecutionRows(
  db: Queryable,
  accountUuid: string,
  filter: ListFilter,
  page: IdPage,
): Promise<ExecutionRow[]> {
  const { values, ...statement } = listStatement(filter, page, accountUuid);
  return db.query(statement, values);
}

const ofEsim = pageOfValue('iccid', '$3');

type Esim = { account_id: string; iccid: string; execution_id: string };

/**
 * The order and the commands of an eSIM, newest first. One statement, so an execution that ends meanwhile is found once. The order is
 * found by its id: an index by ICCID would slow every order down.
 */
export const listRowsOfEsim = many<ExecutionRow, [esim: Esim, page: IdPage]>(
  'execution_list_of_esim',
  (esim, page) => [
    esim.account_id,
    page.beforeUuid ?? beforeFirst,
    esim.iccid,
    esim.execution_id,
    page.count,
  ],
)`
select *
from (
  (select ${endedColumns}
    from executions
    where account_id = $1 and ${ofEsim.condition} and type <> 'esim.provision'
    order by ${ofEsim.order}
    limit $5)
  union all
  (select ${openColumns}
    from execution_queue
    where account_id = $1 and iccid = $3 and type <> 'esim.provision' and id < $2
    order by id desc
    limit $5)
  union all
  (select ${endedColumns}
    from executions
    where account_id = $1 and id = $4 and id < $2)
  union all
  (select ${openColumns}
    from execution_queue
    where account_id = $1 and id = $4 and id < $2)
) execution
order by id desc
limit $5`;

type Row = Omit<NewExecution, 'claim' | 'answer' | 'seat' | 'audit'> & {
  iccid: string | null;
  /** Steps that are already done. */
  progress?: object;
};

/** For orders that are validated first: inserted in the same transaction. */
export const insertExecution = run<[row: Row]>('execution_insert', (row) => [
  row.accountUuid,
  row.uuid,
  row.type,
  row.productId,
  row.iccid,
  JSON.stringify(row.input),
  row.createdAt,
  JSON.stringify(row.progress ?? {}),
])`
insert into execution_queue (account_id, id, type, product_id, iccid, input, created_at, progress, due_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, ${dueAt('$4::text')})`;

type OpenChange = { id: string; type: ExecutionType };

/** Finds an open change of this eSIM, other than the given one. The caller holds the eSIM's lock. */
export const findOpenChange = one<
  OpenChange,
  [accountUuid: string, iccid: string, exceptUuid: string | null]
>('execution_open_change')`
select id, type
from execution_queue
where account_id = $1
  and iccid = $2
  and type in ('esim.suspend', 'esim.resume', 'esim.terminate')
  and id is distinct from $3
limit 1`;

/** Counts the account's open executions, up to `atMost`. */
export const countOpen = single<number, [accountUuid: string, atMost: number]>('execution_count_open')`
select count(*)::integer as count
from (
  select 1
  from execution_queue
  where account_id = $1
  limit $2
) open`;

/**
 * Counts them under the account's lock. Orders of an account with a limit wait for each other here, so that two
 * cannot take the same place. The count is a separate statement, because its snapshot must be newer than the lock.
 */
export async function lockAndCountOpen(tx: Queryable, accountUuid: string, atMost: number): Promise<number> {
  await lockAccount(tx, accountUuid);
  return countOpen(tx, accountUuid, atMost);
}
