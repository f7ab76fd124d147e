import type { Queryable } from '../../../platform/db/database.ts';
import { lowestUuidAt } from '../../../platform/ids/uuid-range.ts';
import { boundsOf, isBefore, isInRange, type Range } from './ranges.ts';

/** The column that tells a row's age: a UUIDv7 or a time. */
export type Age = { column: string; type: 'uuid' | 'time' };

type Old = { range: Range; age: Age; than: Date; condition: string };

/** Deletes the range's rows that are older than `than` and meet the condition. Returns how many. */
export async function deleteRows(tx: Queryable, { range, age, than, condition }: Old): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    {
      name: `retention_delete_${range.table}`,
      text: `
with removed as (
  delete from ${range.table}
  where ${isInRange} and ${isBefore(age.column)} and ${condition}
  returning 1
)
select count(*)::integer as count
from removed`,
    },
    [...boundsOf(range), age.type === 'uuid' ? lowestUuidAt(than.getTime()) : than],
  );
  return row?.count ?? 0;
}
