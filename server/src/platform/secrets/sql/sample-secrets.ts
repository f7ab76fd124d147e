import type { Queryable } from '../../db/database.ts';
import type { SealedColumn } from '../sealed-columns.ts';
import { textsOf } from './key-columns.ts';
import type { StaleSecret } from './lock-stale.ts';

/** Some of the first stored secrets of a column that can still be needed. Reads a bounded number of rows. */
export function sampleSecrets(
  db: Queryable,
  { id, table, key, value, row, condition = 'true', isOver = 'false' }: SealedColumn,
  count: number,
): Promise<Pick<StaleSecret, 'key' | 'stored' | 'row'>[]> {
  return db.query(
    {
      name: `sealing_sample_${id}`,
      text: `
with page as (
  select *
  from ${table}
  order by ${key.map(({ name }) => name).join(', ')}
  limit 1000
)
select array[${textsOf(key)}] as key, ${value} as stored, ${row} as row
from page
where ${value} is not null
  and ${condition}
  and not (${isOver})
limit $1`,
    },
    [count],
  );
}
