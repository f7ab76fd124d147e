import type { Queryable } from '../../platform/db/database.ts';

/** Hashes of the usable keys, most recently used first. */
export async function listUsableHashes(
  db: Queryable,
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    {
      name: 'api_key_hashes',
      text: `
select encode(hash, 'hex') as hash
from api_keys
where revoked_at is null and (expires_at is null or expires_at > $2)
order by last_used_at desc nulls last
limit $1`,
    },
    [limit, new Date(nowMs)],
  );
  return rows.map(({ hash }) => hash);
}
