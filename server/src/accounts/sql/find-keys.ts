import type { Queryable } from '../../db/database.ts';
import type { ApiKeyRow } from './rows.ts';

export type FoundKeyRow = ApiKeyRow & { account_name: string; api_version: string };

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
  a.name as account_name,
  a.api_version
from unnest($1::text[]) as wanted (hash)
cross join lateral (
  select *
  from api_keys
  where api_keys.hash = decode(wanted.hash, 'hex')
  offset 0
) k
join accounts a on a.id = k.account_id`,
    },
    [hashes],
  );
  const found = new Map(rows.map((row) => [row.hash, row]));
  return hashes.map((hash) => found.get(hash) ?? null);
}
