import type { Queryable } from '../../platform/db/database.ts';
import type { AccountRow, ApiKeyRow } from './rows.ts';

/** `account` is null for an operator's key. */
export type FoundKeyRow = ApiKeyRow & { account: Omit<AccountRow, 'created_at'> | null };

/** Returns one row or null per hash, in input order. */
export async function findKeysByHash(
  db: Queryable,
  hashes: readonly string[],
): Promise<(FoundKeyRow | null)[]> {
  const rows = await db.query<FoundKeyRow & { hash: string }>(
    {
      name: 'api_keys_find',
      text: `
select
  wanted.hash,
  k.id,
  k.account_id,
  k.name,
  k.scopes,
  k.last4,
  k.created_at,
  k.expires_at,
  k.revoked_at,
  k.last_used_at,
  k.allowed_cidrs,
  k.created_by,
  k.replaced_by,
  to_jsonb(a) as account
from unnest($1::text[]) as wanted (hash)
cross join lateral (
  select *
  from api_keys
  where api_keys.hash = decode(wanted.hash, 'hex')
  offset 0
) k
left join accounts a on a.id = k.account_id`,
    },
    [hashes],
  );
  const found = new Map(rows.map((row) => [row.hash, row]));
  return hashes.map((hash) => found.get(hash) ?? null);
}
