import type { Queryable } from '../../db/database.ts';

export async function listCountedAccounts(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ id: string }>({
    name: 'overview_list_accounts',
    text: `
select account_id as id
from counted_events`,
  });
  return rows.map(({ id }) => id);
}
