import type { Queryable } from '../../../platform/db/database.ts';

type NewSession = {
  hash: Buffer;
  uuid: string;
  keyUuid: string;
  createdAt: Date;
  expiresAt: Date;
  ip: string | null;
  userAgent: string | null;
};

// One key signs in on a few machines. Without a bound, it could fill the table.
const maxPerKey = 20;

/**
 * The key's oldest sessions end if it has too many. Sign-ins with one key wait for each other, so that several at once do not
 * exceed the limit; the snapshot that finds the oldest is newer than the lock.
 */
export async function insertSession(tx: Queryable, session: NewSession): Promise<void> {
  await tx.query(
    {
      name: 'session_lock_key',
      text: `
select id
from api_keys
where id = $1
for no key update`,
    },
    [session.keyUuid],
  );
  await tx.query(
    {
      name: 'session_insert',
      text: `
with oldest as (
  delete from dashboard_sessions
  where hash in (
    select hash
    from dashboard_sessions
    where key_id = $3
    order by created_at desc
    offset ${maxPerKey - 1}
  )
)
insert into dashboard_sessions (hash, id, key_id, created_at, expires_at, ip, user_agent)
values ($1, $2, $3, $4, $5, $6, $7)`,
    },
    [
      session.hash,
      session.uuid,
      session.keyUuid,
      session.createdAt,
      session.expiresAt,
      session.ip,
      session.userAgent,
    ],
  );
}
