import type { Queryable } from '../../db/database.ts';

/** Those of the sessions that have not ended. */
export async function listLiveSessions(db: Queryable, hashes: Buffer[], now: Date): Promise<Buffer[]> {
  const rows = await db.query<{ hash: Buffer }>(
    {
      name: 'session_list_live',
      text: `
select hash
from dashboard_sessions
where hash = any($1::bytea[]) and expires_at > $2`,
    },
    [hashes, now],
  );
  return rows.map(({ hash }) => hash);
}
