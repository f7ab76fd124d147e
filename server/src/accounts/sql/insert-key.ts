import type { Queryable } from '../../platform/db/database.ts';
import type { ApiKeyRow } from './rows.ts';

export async function insertKey(db: Queryable, key: ApiKeyRow, hash: Buffer): Promise<void> {
  await db.query(
    {
      name: 'api_key_insert',
      text: `
insert into api_keys
  (id, account_id, hash, name, scopes, last4, created_at, expires_at, allowed_cidrs, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    },
    [
      key.id,
      key.account_id,
      hash,
      key.name,
      key.scopes,
      key.last4,
      key.created_at,
      key.expires_at,
      key.allowed_cidrs,
      key.created_by && JSON.stringify(key.created_by),
    ],
  );
}
