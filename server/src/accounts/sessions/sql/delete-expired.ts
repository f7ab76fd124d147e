import type { Queryable } from '../../../platform/db/database.ts';

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query(
    {
      name: 'session_delete_expired',
      text: `
with links as (
  delete from dashboard_links
  where expires_at <= $1
)
delete from dashboard_sessions
where expires_at <= $1`,
    },
    [now],
  );
}
