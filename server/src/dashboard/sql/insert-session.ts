import type { Queryable } from '../../db/database.ts';

type NewSession = { hash: Buffer; keyUuid: string; createdAt: Date; expiresAt: Date };

export async function insertSession(tx: Queryable, session: NewSession): Promise<void> {
  await tx.query(
    {
      name: 'session_insert',
      text: `
insert into dashboard_sessions (hash, key_id, created_at, expires_at)
values ($1, $2, $3, $4)`,
    },
    [session.hash, session.keyUuid, session.createdAt, session.expiresAt],
  );
}
