import type { Queryable } from '../../db/database.ts';

/** Must be committed before, or together with, the first secret that the key seals. */
export async function recordSealingKey(db: Queryable, id: string): Promise<void> {
  await db.query(
    {
      name: 'sealing_keys_record',
      text: `
insert into sealing_keys (id)
values ($1)
on conflict do nothing`,
    },
    [id],
  );
}
