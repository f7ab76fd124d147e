import type { Queryable } from '../../../platform/db/database.ts';

/** `key_hash` is the hash of its key, by which keys are looked up. */
type SessionRow = { key_hash: string; expires_at: Date };

/** Returns one session or null per hash of a token, in input order. */
export async function findSessions(db: Queryable, hashes: readonly string[]): Promise<(SessionRow | null)[]> {
  const rows = await db.query<SessionRow & { hash: string }>(
    {
      name: 'sessions_find',
      text: `
select
  wanted.hash,
  encode(k.hash, 'hex') as key_hash,
  s.expires_at
from unnest($1::text[]) as wanted (hash)
cross join lateral (
  select key_id, expires_at
  from dashboard_sessions
  where dashboard_sessions.hash = decode(wanted.hash, 'hex')
  offset 0
) s
join api_keys k on k.id = s.key_id`,
    },
    [hashes],
  );
  const found = new Map(rows.map((row) => [row.hash, row]));
  return hashes.map((hash) => found.get(hash) ?? null);
}
