import type { Queryable } from '../../db/database.ts';
import type { SealedColumn } from '../sealed-columns.ts';
import { type Page, stale } from './stale.ts';

/** How many secrets of a page do not start with this prefix. */
export async function countStale(
  db: Queryable,
  column: SealedColumn,
  page: Page,
  prefix: string,
): Promise<number> {
  const { text, values } = stale(column, page, prefix);
  const [row] = await db.query<{ count: number }>(
    {
      name: `sealing_count_${column.id}${page.after ? '' : '_first'}`,
      text: `
select count(*) as count
${text}`,
    },
    values,
  );
  return row?.count ?? 0;
}
