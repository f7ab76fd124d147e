import type { Queryable } from '../../db/database.ts';

/** The ids of the keys that stored secrets may need. */
export async function listSealingKeys(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: 'sealing_keys_list',
    text: `
select id
from sealing_keys
order by first_used_at, id`,
  });
  return rows.map(({ id }) => id);
}
