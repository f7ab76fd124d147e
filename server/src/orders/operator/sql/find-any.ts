import type { Queryable } from '../../../platform/db/database.ts';
import { type AnyExecutionRow, anyEndedColumns, anyOpenColumns } from './rows.ts';

/** Finds an execution by its id alone: one look-up per account and table, since their keys begin with the account. */
export async function findAnyExecution(db: Queryable, uuid: string): Promise<AnyExecutionRow | null> {
  const [row] = await db.query<AnyExecutionRow>(
    {
      name: 'operator_execution_find',
      text: `
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
) found`,
    },
    [uuid],
  );
  return row ?? null;
}
