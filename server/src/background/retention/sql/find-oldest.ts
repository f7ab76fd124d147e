import type { Queryable } from '../../../platform/db/database.ts';
import { unixMsOf } from '../../../platform/ids/uuid-range.ts';
import type { Age } from './delete-rows.ts';
import { boundsOf, isInRange, type Range } from './ranges.ts';

/** The time of the oldest row in the range, in milliseconds since 1970; null if it has none. */
export async function findOldestMs(tx: Queryable, range: Range, { column }: Age): Promise<number | null> {
  const [row] = await tx.query<{ oldest: string | Date }>(
    {
      name: `retention_oldest_${range.table}`,
      text: `
select ${column} as oldest
from ${range.table}
where ${isInRange}
order by ${column}
limit 1`,
    },
    boundsOf(range),
  );
  if (!row) return null;
  return typeof row.oldest === 'string' ? unixMsOf(row.oldest) : row.oldest.getTime();
}
