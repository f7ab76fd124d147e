import type { Queryable } from '../../platform/db/database.ts';

/** Counts the account's keys that are neither revoked nor expired. */
export async function countUsableKeys(tx: Queryable, accountUuid: string, now: Date): Promise<number> {
  const [row] = await tx.query<{ keys: number }>(
    {
      name: 'api_key_count_usable',
      text: `
select count(*)::integer as keys
from api_keys
where account_id = $1
  and revoked_at is null
  and (expires_at is null or expires_at > $2)`,
    },
    [accountUuid, now],
  );
  return row?.keys ?? 0;
}
