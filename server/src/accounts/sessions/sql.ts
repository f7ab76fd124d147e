import type { Queryable } from '../../platform/db/database.ts';
import { count, many, run, value } from '../../platform/db/statement.ts';

/** Returns the account of the link's key; null for an operator's. */
export const insertLink = value<string, [link: { hash: Buffer; keyUuid: string; expiresAt: Date }]>(
  'link_insert',
  (link) => [link.hash, link.keyUuid, link.expiresAt],
)`
insert into dashboard_links (hash, key_id, expires_at)
values ($1, $2, $3)
returning (select account_id from api_keys where id = key_id)`;

/** The hash of the key that a link signs in with; null if the link was used, has expired or never existed. */
export const findLink = value<string, [hash: Buffer, now: Date]>('link_find')`
select encode(k.hash, 'hex')
from dashboard_links l
join api_keys k on k.id = l.key_id
where l.hash = $1 and l.expires_at > $2`;

/** Returns 0 if another request has spent it. */
export const spendLink = count<[hash: Buffer]>('link_spend')`
delete from dashboard_links
where hash = $1
returning 1`;

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

const lockKey = run<[keyUuid: string]>('session_lock_key')`
select id
from api_keys
where id = $1
for no key update`;

const insertAndEndOldest = run<[session: NewSession]>('session_insert', (session) => [
  session.hash,
  session.uuid,
  session.keyUuid,
  session.createdAt,
  session.expiresAt,
  session.ip,
  session.userAgent,
])`
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
values ($1, $2, $3, $4, $5, $6, $7)`;

/**
 * The key's oldest sessions end if it has too many. Sign-ins with one key wait for each other, so that several at once do not
 * exceed the limit; the snapshot that finds the oldest is newer than the lock.
 */
export async function insertSession(tx: Queryable, session: NewSession): Promise<void> {
  await lockKey(tx, session.keyUuid);
  await insertAndEndOldest(tx, session);
}

/** `key_hash` is the hash of its key, by which keys are looked up. */
type FoundSession = { hash: string; key_hash: string; expires_at: Date };

const findByHashes = many<FoundSession, [hashes: readonly string[]]>('sessions_find')`
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
join api_keys k on k.id = s.key_id`;

/** Returns one session or null per hash of a token, in input order. */
export async function findSessions(
  db: Queryable,
  hashes: readonly string[],
): Promise<(FoundSession | null)[]> {
  const found = new Map((await findByHashes(db, hashes)).map((row) => [row.hash, row]));
  return hashes.map((hash) => found.get(hash) ?? null);
}

export type SessionRow = {
  id: string;
  ip: string | null;
  user_agent: string | null;
  created_at: Date;
  expires_at: Date;
  key_id: string;
  key_name: string;
  last4: string;
};

type OfOwner<Args extends unknown[], Result> = (
  db: Queryable,
  accountUuid: string | null,
  ...args: Args
) => Promise<Result>;

/** A statement for an account and one for operators (null), with their condition on the owner of the key `k`. */
function perOwner<Args extends unknown[], Result>(
  statement: (suffix: string, condition: string) => OfOwner<Args, Result>,
): OfOwner<Args, Result> {
  const ofAccount = statement('', 'k.account_id = $1');
  const ofOperator = statement('_of_operator', '$1::uuid is null and k.account_id is null');
  return (db, accountUuid, ...args) =>
    (accountUuid === null ? ofOperator : ofAccount)(db, accountUuid, ...args);
}

/** Newest first. By key, of which an account has a bounded number, each with few sessions. A session of a key that ended has ended. */
export const listSessionRows = perOwner(
  (suffix, condition) =>
    many<SessionRow, [accountUuid: string | null, now: Date, beforeUuid: string, count: number]>(
      `session_list${suffix}`,
    )`
select s.id, s.ip, s.user_agent, s.created_at, s.expires_at, k.id as key_id, k.name as key_name, k.last4
from api_keys k
join dashboard_sessions s on s.key_id = k.id
where ${condition}
  and k.revoked_at is null
  and (k.expires_at is null or k.expires_at > $2)
  and s.expires_at > $2
  and s.id < $3
order by s.id desc
limit $4`,
);

/** Returns the session's id; null if it has ended already. */
export const deleteSessionByHash = value<string, [hash: Buffer]>('session_delete')`
delete from dashboard_sessions
where hash = $1
returning id`;

/** Returns the id of the session's key; null if there is no such session of a key of this account, or of an operator. */
export const deleteSessionOf = perOwner(
  (suffix, condition) =>
    value<string, [accountUuid: string | null, sessionUuid: string]>(`session_delete_one${suffix}`)`
delete from dashboard_sessions s
using api_keys k
where ${condition}
  and k.id = s.key_id
  and s.id = $2
returning s.key_id`,
);

/** Ends all sessions of the account's keys, and the links that would start one. */
export const deleteSessionsOf = run<[accountUuid: string]>('session_delete_of_account')`
with links as (
  delete from dashboard_links l
  using api_keys k
  where k.account_id = $1 and k.id = l.key_id
)
delete from dashboard_sessions s
using api_keys k
where k.account_id = $1 and k.id = s.key_id`;

export const deleteExpiredSessions = run<[now: Date]>('session_delete_expired')`
with links as (
  delete from dashboard_links
  where expires_at <= $1
)
delete from dashboard_sessions
where expires_at <= $1`;
