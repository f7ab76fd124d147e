import type { Queryable } from '../../platform/db/database.ts';
import { ownedBy } from './owned-by.ts';
import type { ApiKeyRow } from './rows.ts';

/** Writes the fields that can change. The caller has locked the key. */
export async function saveKey(tx: Queryable, key: ApiKeyRow): Promise<void> {
  const { condition, suffix } = ownedBy(key.account_id);
  await tx.query(
    {
      name: `api_key_save${suffix}`,
      text: `
update api_keys
set name = $3, scopes = $4, allowed_cidrs = $5, expires_at = $6, revoked_at = $7, replaced_by = $8
where ${condition} and id = $2`,
    },
    [
      key.account_id,
      key.id,
      key.name,
      key.scopes,
      key.allowed_cidrs,
      key.expires_at,
      key.revoked_at,
      key.replaced_by,
    ],
  );
}
