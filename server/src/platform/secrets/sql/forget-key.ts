import type { Queryable } from '../../db/database.ts';

/** Returns whether the key was in the register. */
export async function forgetSealingKey(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    {
      name: 'sealing_keys_forget',
      text: `
delete from sealing_keys
where id = $1
returning id`,
    },
    [id],
  );
  return rows.length > 0;
}
