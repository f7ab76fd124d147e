import type { Queryable } from '../../platform/db/database.ts';
import type { KeyId } from './rows.ts';

/** Finds whose key it is, for the server's command line. */
export async function findKeyOwner(db: Queryable, keyUuid: string): Promise<KeyId | null> {
  const [row] = await db.query<{ account_id: string | null }>(
    {
      name: 'api_key_owner',
      text: `
select account_id
from api_keys
where id = $1`,
    },
    [keyUuid],
  );
  return row ? { accountUuid: row.account_id, keyUuid } : null;
}
