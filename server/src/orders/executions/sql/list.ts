import type { Queryable } from '../../../platform/db/database.ts';
import { type ListFilter, listStatement } from '../list-statement.ts';
import type { ExecutionRow } from './rows.ts';

export function listExecutionRows(
  db: Queryable,
  accountUuid: string,
  filter: ListFilter,
  page: { beforeUuid: string | null; count: number },
): Promise<ExecutionRow[]> {
  const { values, ...statement } = listStatement(filter, page, accountUuid);
  return db.query(statement, values);
}
