import type { Queryable } from '../../db/database.ts';

type Usable = { keys: number; admins: number };

/** Counts the account's keys that are neither revoked nor expired, and those among them with the `admin` scope. */
export async function countUsableKeys(
  tx: Queryable,
  accountUuid: string,
  { now, except = null }: { now: Date; except?: string | null },
): Promise<Usable> {
  const [row] = await tx.query<Usable>(
    {
      name: 'api_key_count_usable',
      text: `
select
  count(*)::integer as keys,
  count(*) filter (where 'admin' = any(scopes))::integer as admins
from api_keys
where account_id = $1
  and revoked_at is null
  and (expires_at is null or expires_at > $2)
  and id is distinct from $3`,
    },
    [accountUuid, now, except],
  );
  return row ?? { keys: 0, admins: 0 };
}
