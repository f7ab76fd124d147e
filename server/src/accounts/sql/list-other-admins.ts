import type { Queryable } from '../../platform/db/database.ts';
import type { ApiKeyRow } from './rows.ts';

/** The account's other keys with the `admin` scope that are not revoked and work until then at least. */
export function listOtherAdmins(
  tx: Queryable,
  accountUuid: string,
  { keyUuid, until }: { keyUuid: string; until: Date },
): Promise<Pick<ApiKeyRow, 'allowed_cidrs'>[]> {
  return tx.query(
    {
      name: 'api_key_other_admins',
      text: `
select allowed_cidrs
from api_keys
where account_id = $1
  and id <> $2
  and 'admin' = any(scopes)
  and revoked_at is null
  and (expires_at is null or expires_at >= $3)`,
    },
    [accountUuid, keyUuid, until],
  );
}
