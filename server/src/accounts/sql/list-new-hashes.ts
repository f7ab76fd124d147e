import type { Queryable } from '../../platform/db/database.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';

/** Hashes of the usable keys created since then, newest first. Ids are UUIDv7, so the primary key is in order of creation. */
export async function listNewHashes(
  db: Queryable,
  { sinceMs, nowMs, limit }: { sinceMs: number; nowMs: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    {
      name: 'api_key_new_hashes',
      text: `
select encode(hash, 'hex') as hash
from api_keys
where id > $3 and revoked_at is null and (expires_at is null or expires_at > $2)
order by id desc
limit $1`,
    },
    [limit, new Date(nowMs), lowestUuidAt(sinceMs)],
  );
  return rows.map(({ hash }) => hash);
}
