import type { Queryable } from '../../../platform/db/database.ts';
import { type ListFilter, listStatement } from '../../executions/list-statement.ts';
import { type AnyExecutionRow, anyEndedColumns, anyOpenColumns } from './rows.ts';

type Page = { beforeUuid: string | null; count: number };

const shape = { account: 'accounts.id', ended: anyEndedColumns, open: anyOpenColumns };

/** Reads a page of each account, or of one, and merges them. So it needs no index besides those of the accounts' own lists. */
export function listAnyExecutions(
  db: Queryable,
  { accountUuid, ...filter }: ListFilter & { accountUuid: string | null },
  page: Page,
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
