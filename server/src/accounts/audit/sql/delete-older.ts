import type { Queryable } from '../../../platform/db/database.ts';

/** Deletes at most `count` entries of all accounts with ids before `thanUuid`. Returns how many. */
export async function deleteOlderEntries(db: Queryable, thanUuid: string, count: number): Promise<number> {
  const rows = await db.query(
    {
      name: 'audit_delete_older',
      text: `
delete from audit_log
where ctid = any(array(
  select ctid
  from audit_log
  where id < $1
  order by id
  limit $2
  for update skip locked))
returning 1`,
    },
    [thanUuid, count],
  );
  return rows.length;
}
