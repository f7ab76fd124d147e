import type { Queryable } from '../../../platform/db/database.ts';
import { endedColumns, openColumns } from '../row-columns.ts';
import type { ExecutionRow } from './rows.ts';

/** One statement, so one snapshot: an execution that ends meanwhile is still found once. */
export async function findExecution(
  db: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<ExecutionRow | null> {
  const [row] = await db.query<ExecutionRow>(
    {
      name: 'execution_find',
      text: `
select ${endedColumns}
from executions
where account_id = $1 and id = $2
union all
select ${openColumns}
from execution_queue
where account_id = $1 and id = $2`,
    },
    [accountUuid, uuid],
  );
  return row ?? null;
}
