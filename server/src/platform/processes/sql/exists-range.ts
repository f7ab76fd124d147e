import type { Queryable } from '../../db/database.ts';

export async function existsRange(db: Queryable, aliveMs: number): Promise<boolean> {
  const rows = await db.query(
    {
      name: 'process_exists_range',
      text: `
select
from processes
where seen_at >= now() - $1 * interval '1 ms'
  and jsonb_array_length(report -> 'iccid_ranges') > 0
limit 1`,
    },
    [aliveMs],
  );
  return rows.length > 0;
}
