import type { Queryable } from '../db/database.ts';

/** The ids of the keys that stored secrets may need. */
export async function listSealingKeys(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: 'sealing_keys_list',
    text: 'select id from sealing_keys order by first_used_at, id',
  });
  return rows.map(({ id }) => id);
}

/** Processes that record a key take turns, so that two with different keys cannot both find the register empty. */
export async function lockSealingKeys(tx: Queryable): Promise<void> {
  await tx.query({
    name: 'sealing_keys_lock',
    text: 'lock table sealing_keys in share row exclusive mode',
  });
}

/** Must be committed before, or together with, the first secret that the key seals. */
export async function recordSealingKey(db: Queryable, id: string): Promise<void> {
  await db.query(
    { name: 'sealing_keys_record', text: 'insert into sealing_keys (id) values ($1) on conflict do nothing' },
    [id],
  );
}

/** Returns whether the key was in the register. */
export async function forgetSealingKey(db: Queryable, id: string): Promise<boolean> {
  const rows = await db.query(
    { name: 'sealing_keys_forget', text: 'delete from sealing_keys where id = $1 returning id' },
    [id],
  );
  return rows.length > 0;
}
