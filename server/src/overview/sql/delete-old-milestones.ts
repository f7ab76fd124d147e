import type { Queryable } from '../../db/database.ts';

type Old = { accountUuid: string; beforeUuid: string; count: number };

/** Returns how many were deleted. */
export async function deleteOldMilestones(
  db: Queryable,
  { accountUuid, beforeUuid, count }: Old,
): Promise<number> {
  const rows = await db.query(
    {
      name: 'overview_delete_old_milestones',
      text: `
delete from esim_milestones
where ctid = any(array(
  select ctid
  from esim_milestones
  where account_id = $1 and esim_id < $2
  order by esim_id
  limit $3))
returning 1`,
    },
    [accountUuid, beforeUuid, count],
  );
  return rows.length;
}
