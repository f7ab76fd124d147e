import type { ExecutionStatus } from '@simplane/contract';
import type { Queryable } from '../../db/database.ts';
import { beforeFirst, oldestOnPage } from '../../lists/keyset.ts';
import { type ExecutionRow, endedColumns, openColumns } from './rows.ts';

type Page = { status: ExecutionStatus | undefined; beforeUuid: string | null; count: number };

/** Newest first. An execution keeps its id when it ends, so paging shows it once even if it moves to the history. */
export function listExecutionRows(db: Queryable, accountUuid: string, page: Page): Promise<ExecutionRow[]> {
  const name = page.status === undefined ? 'execution_list' : `execution_list_${page.status}`;
  const values = [accountUuid, page.beforeUuid ?? beforeFirst, page.count];
  return db.query({ name, text: page.status === undefined ? listAll : listByStatus[page.status] }, values);
}

const ended = (condition = '') => `
select ${endedColumns}
from executions
where account_id = $1 and id < $2 ${condition}
order by id desc
limit $3`;

const open = (condition = '') => `
select ${openColumns}
from execution_queue
where account_id = $1 and id < $2 ${condition}
order by id desc
limit $3`;

const listAll = `
with ended as materialized (${ended()})
select *
from (
  (select * from ended)
  union all
  (${open(`and id >= ${oldestOnPage('ended')}`)})
) page
order by id desc
limit $3`;

// A prepared plan can use the partial index of failed executions only if the status is a literal.
const listByStatus: Record<ExecutionStatus, string> = {
  queued: open('and attempts = 0'),
  running: open('and attempts > 0 and fence > 0'), // `fence > 0` is implied, but the partial index of claimed rows requires it
  succeeded: ended(`and status = 'succeeded'`),
  failed: ended(`and status = 'failed'`),
};
