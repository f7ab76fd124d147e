import type { Queryable } from '../../../platform/db/database.ts';

/** Returns the session's id; null if it has ended already. */
export async function deleteSessionByHash(tx: Queryable, hash: Buffer): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    {
      name: 'session_delete',
      text: `
delete from dashboard_sessions
where hash = $1
returning id`,
    },
    [hash],
  );
  return row?.id ?? null;
}
