import type { Queryable } from '../../../platform/db/database.ts';

/** Stores how far each ICCID range is used, once an hour, and forgets counts that are older than the pace looks back. */
export async function countRanges(db: Queryable): Promise<void> {
  await db.query({
    name: 'iccid_range_count',
    text: `
with old as (
  delete from iccid_range_hours
  where hour < now() - interval '8 days'
)
insert into iccid_range_hours (first_number, hour, taken, counted_at)
select first_number, date_trunc('hour', now()), taken, now()
from iccid_ranges
on conflict (first_number, hour) do nothing`,
  });
}
