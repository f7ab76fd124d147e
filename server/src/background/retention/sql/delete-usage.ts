import type { Queryable } from '../../../platform/db/database.ts';
import { boundsOf, isBefore, isInRange, type Range } from './ranges.ts';

/** Deletes the range's usage records that are older than `than`, and adds them to the sums of their days. Returns how many. */
export async function deleteUsage(tx: Queryable, range: Range, than: Date): Promise<number> {
  const [row] = await tx.query<{ count: number }>(
    {
      name: 'retention_delete_usage',
      text: `
with removed as (
  delete from usage_records
  where ${isInRange} and ${isBefore('observed_at')}
  returning iccid, observed_at, bytes
), added as (
  insert into usage_days as known (iccid, day, bytes)
  select iccid, date_bin('1 day', observed_at, 'epoch'), sum(bytes)
  from removed
  group by 1, 2
  on conflict (iccid, day) do update
  set bytes = known.bytes + excluded.bytes
)
select count(*)::integer as count
from removed`,
    },
    [...boundsOf(range), than],
  );
  return row?.count ?? 0;
}
