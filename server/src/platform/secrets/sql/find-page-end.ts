import type { Queryable } from '../../db/database.ts';
import type { SealedColumn } from '../sealed-columns.ts';
import { parameters, type RowKey, textsOf } from './key-columns.ts';

/** The last key of the next `count` rows, or null if there are none. With key ranges, every page costs the same. */
export async function findPageEnd(
  db: Queryable,
  { table, key }: SealedColumn,
  after: RowKey | null,
  count: number,
): Promise<RowKey | null> {
  const columns = key.map(({ name }) => name).join(', ');
  const [row] = await db.query<{ key: RowKey }>(
    {
      name: `sealing_page_end_${table}${after ? '' : '_first'}`,
      text: `
with page as (
  select ${columns}
  from ${table}
  ${after ? `where (${columns}) > (${parameters(key, 2)})` : ''}
  order by ${columns}
  limit $1
)
select array[${textsOf(key)}] as key
from page
order by ${key.map(({ name }) => `${name} desc`).join(', ')}
limit 1`,
    },
    [count, ...(after ?? [])],
  );
  return row?.key ?? null;
}
