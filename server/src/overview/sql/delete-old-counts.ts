import type { Queryable } from '../../db/database.ts';

type Old = { accountUuid: string; before: Date; count: number };

/** Returns how many were deleted. */
export async function deleteOldCounts(db: Queryable, { accountUuid, before, count }: Old): Promise<number> {
  const rows = await db.query(
    {
      name: 'overview_delete_old_counts',
      text: `
delete from order_counts
where ctid = any(array(
  select ctid
  from order_counts
  where account_id = $1 and hour < $2
  order by hour
  limit $3))
returning 1`,
    },
    [accountUuid, before, count],
  );
  return rows.length;
}
