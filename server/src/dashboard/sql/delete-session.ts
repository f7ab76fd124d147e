import type { Queryable } from '../../db/database.ts';

export async function deleteSession(db: Queryable, hash: Buffer): Promise<void> {
  await db.query(
    {
      name: 'session_delete',
      text: `
delete from dashboard_sessions
where hash = $1`,
    },
    [hash],
  );
}
