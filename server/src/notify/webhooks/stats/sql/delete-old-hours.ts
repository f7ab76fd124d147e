import type { Queryable } from '../../../../platform/db/database.ts';

/** Deletes at most `count` hours before `than`, of all endpoints. Returns how many. */
export async function deleteOldHours(db: Queryable, than: Date, count: number): Promise<number> {
  const rows = await db.query(
    {
      name: 'endpoint_hours_delete_old',
      text: `
delete from endpoint_hours
where ctid = any(array(
  select ctid
  from endpoint_hours
  where hour < $1
  order by hour
  limit $2))
returning 1`,
    },
    [than, count],
  );
  return rows.length;
}
