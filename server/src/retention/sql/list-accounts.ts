import type { Queryable } from '../../db/database.ts';

export async function listAccountUuids(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: 'retention_accounts',
    text: `
select id
from accounts`,
  });
  return rows.map(({ id }) => id);
}
