import type { Queryable } from '../../db/database.ts';

type NewSession = { hash: Buffer; keyUuid: string; createdAt: Date; expiresAt: Date };

// One key signs in on a few machines. Without a bound, it could fill the table.
const maxPerKey = 20;

/** The key's oldest sessions end if it has too many. */
export async function insertSession(tx: Queryable, session: NewSession): Promise<void> {
  await tx.query(
    {
      name: 'session_insert',
      text: `
with oldest as (
  delete from dashboard_sessions
  where hash in (
    select hash
    from dashboard_sessions
    where key_id = $2
    order by created_at desc
    offset ${maxPerKey - 1}
  )
)
insert into dashboard_sessions (hash, key_id, created_at, expires_at)
values ($1, $2, $3, $4)`,
    },
    [session.hash, session.keyUuid, session.createdAt, session.expiresAt],
  );
}
