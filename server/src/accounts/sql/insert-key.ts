import type { Queryable } from '../../db/database.ts';
import type { ApiKeyRow } from './rows.ts';

export type NewKey = Omit<ApiKeyRow, 'revoked_at' | 'last_used_at'> & { hash: Buffer };

export async function insertKey(db: Queryable, key: NewKey): Promise<void> {
  await db.query(
    {
      name: 'api_key_insert',
      text: `
insert into api_keys (id, account_id, hash, name, scopes, last4, created_at, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    },
    [key.id, key.account_id, key.hash, key.name, key.scopes, key.last4, key.created_at, key.expires_at],
  );
}
