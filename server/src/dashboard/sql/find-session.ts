import type { Queryable } from '../../db/database.ts';

/** The hash of its key, by which keys are looked up. */
export async function findSession(db: Queryable, hash: Buffer, now: Date): Promise<string | null> {
  const [row] = await db.query<{ key_hash: string }>(
    {
      name: 'session_find',
      text: `
select encode(k.hash, 'hex') as key_hash
from dashboard_sessions s
join api_keys k on k.id = s.key_id
where s.hash = $1 and s.expires_at > $2`,
    },
    [hash, now],
  );
  return row?.key_hash ?? null;
}
