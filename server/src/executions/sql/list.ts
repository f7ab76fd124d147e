import type { ExecutionStatus, ExecutionType } from '@simplane/contract';
import type { Queryable } from '../../db/database.ts';
import { beforeFirst, oldestOnPage, pageOfValue } from '../../lists/keyset.ts';
import { type ExecutionRow, endedColumns, openColumns } from './rows.ts';

type Filter = { status?: ExecutionStatus | undefined; types?: ExecutionType[] | undefined };
type Page = { beforeUuid: string | null; count: number };

/**
 * Newest first. An execution keeps its id when it ends, so paging shows it once even if it moves to the history. Each set of
 * filters is a separate statement, so that each has its own plan.
 */
export function listExecutionRows(
  db: Queryable,
  accountUuid: string,
  { status, types }: Filter,
  page: Page,
): Promise<ExecutionRow[]> {
  const values = [accountUuid, page.beforeUuid ?? beforeFirst, page.count];
  const rows = types === undefined ? anyType : types.includes('esim.provision') ? someTypes : changesOnly;
  const name = `execution_list${status === undefined ? '' : `_${status}`}${rows.suffix}`;
  const text = status === undefined ? listAll(rows) : listByStatus[status](rows);
  return db.query({ name, text }, types === undefined ? values : [...values, types]);
}

/** How a statement reads the ended and the open rows that match a condition, in the list's order. */
type RowsOfTypes = { suffix: string; ended: Rows; open: Rows };
type Rows = (condition: string) => string;

const endedRows: Rows = (condition) => `
select ${endedColumns}
from executions
where account_id = $1 and id < $2 ${condition}
order by id desc
limit $3`;

const openRows: Rows = (condition) => `
select ${openColumns}
from execution_queue
where account_id = $1 and id < $2 ${condition}
order by id desc
limit $3`;

const ofType = pageOfValue('type', 'wanted.type');

/** Reads a page of each type and merges them: fast for rare and common types. */
const endedRowsByType: Rows = (condition) => `
select one.*
from unnest($4::text[]) as wanted (type)
cross join lateral (
  select ${endedColumns}
  from executions
  where account_id = $1 and ${ofType.condition} ${condition}
  order by ${ofType.order}
  limit $3
) one
order by id desc
limit $3`;

const anyType: RowsOfTypes = { suffix: '', ended: endedRows, open: openRows };
const someTypes: RowsOfTypes = {
  suffix: '_type',
  ended: endedRowsByType,
  open: (condition) => openRows(`and type = any($4) ${condition}`),
};
// Finds changes behind a backlog of new orders: the queue has an index of them, which a plan uses only with this condition.
const changesOnly: RowsOfTypes = {
  suffix: '_change',
  ended: endedRowsByType,
  open: (condition) => someTypes.open(`and type <> 'esim.provision' ${condition}`),
};

const listAll = ({ ended, open }: RowsOfTypes) => `
with ended as materialized (${ended('')})
select *
from (
  (select * from ended)
  union all
  (${open(`and id >= ${oldestOnPage('ended')}`)})
) page
order by id desc
limit $3`;

// A prepared plan can use the partial index of failed executions only if the status is a literal.
const listByStatus: Record<ExecutionStatus, (ofType: RowsOfTypes) => string> = {
  queued: ({ open }) => open('and attempts = 0'),
  // `fence > 0` is implied, but the partial index of claimed rows requires it
  running: ({ open }) => open('and attempts > 0 and fence > 0'),
  succeeded: ({ ended }) => ended(`and status = 'succeeded'`),
  failed: ({ ended }) => ended(`and status = 'failed'`),
};
