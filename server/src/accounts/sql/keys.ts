import type { ApiKey, Scope } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { list, many, one, run, single } from '../../platform/db/statement.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { lockAccount } from '../lock-account.ts';
import { moveOf } from '../moves/is-here.ts';
import type { AccountRow } from './accounts.ts';

export type ApiKeyRow = {
  id: string;
  /** Null for an operator's key. */
  account_id: string | null;
  name: string;
  scopes: Scope[];
  last4: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
  allowed_cidrs: string[];
  created_by: ApiKey['created_by'];
  /** The key that was made by rolling this one. */
  replaced_by: string | null;
};

/** `accountUuid` is null for an operator's key. */
export type KeyId = { accountUuid: string | null; keyUuid: string };

const keyColumns = `id, account_id, name, scopes, last4, created_at, expires_at, revoked_at, last_used_at, allowed_cidrs,
  created_by, replaced_by`;

/** A statement for an account's key and one for an operator's, with the condition on the owner; the account is `$1`. */
function perOwner<Key, Result>(
  accountOf: (key: Key) => string | null,
  statement: (suffix: string, condition: string) => (db: Queryable, key: Key) => Promise<Result>,
): (db: Queryable, key: Key) => Promise<Result> {
  const ofAccount = statement('', 'account_id = $1');
  const ofOperator = statement('_of_operator', '$1::uuid is null and account_id is null');
  return (db, key) => (accountOf(key) === null ? ofOperator : ofAccount)(db, key);
}
const accountOf = ({ accountUuid }: KeyId) => accountUuid;
const idsOf = ({ accountUuid, keyUuid }: KeyId) => [accountUuid, keyUuid];

export const insertKey = run<[key: ApiKeyRow, hash: Buffer]>('api_key_insert', (key, hash) => [
  key.id,
  key.account_id,
  hash,
  key.name,
  key.scopes,
  key.last4,
  key.created_at,
  key.expires_at,
  key.allowed_cidrs,
  key.created_by && JSON.stringify(key.created_by),
])`
insert into api_keys
  (id, account_id, hash, name, scopes, last4, created_at, expires_at, allowed_cidrs, created_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

export const findKeyRow = perOwner(
  accountOf,
  (suffix, condition) => one<ApiKeyRow, [key: KeyId]>(`api_key_get${suffix}`, idsOf)`
select ${keyColumns}
from api_keys
where ${condition} and id = $2`,
);

/** `account` is null for an operator's key. */
export type FoundKeyRow = ApiKeyRow & { account: Omit<AccountRow, 'created_at' | 'closing'> | null };

const findByHashes = many<FoundKeyRow & { hash: string }, [hashes: readonly string[]]>('api_keys_find')`
select
  wanted.hash,
  k.id,
  k.account_id,
  k.name,
  k.scopes,
  k.last4,
  k.created_at,
  k.expires_at,
  k.revoked_at,
  k.last_used_at,
  k.allowed_cidrs,
  k.created_by,
  k.replaced_by,
  to_jsonb(a) || jsonb_build_object('move', ${moveOf('a.id')}) as account
from unnest($1::text[]) as wanted (hash)
cross join lateral (
  select *
  from api_keys
  where api_keys.hash = decode(wanted.hash, 'hex')
  offset 0
) k
left join accounts a on a.id = k.account_id`;

/** Returns one row or null per hash, in input order. */
export async function findKeysByHash(
  db: Queryable,
  hashes: readonly string[],
): Promise<(FoundKeyRow | null)[]> {
  const found = new Map((await findByHashes(db, hashes)).map((row) => [row.hash, row]));
  return hashes.map((hash) => found.get(hash) ?? null);
}

const findOwner = one<{ account_id: string | null }, [keyUuid: string]>('api_key_owner')`
select account_id
from api_keys
where id = $1`;

/** Finds whose key it is, for the server's command line. */
export async function findKeyOwner(db: Queryable, keyUuid: string): Promise<KeyId | null> {
  const row = await findOwner(db, keyUuid);
  return row && { accountUuid: row.account_id, keyUuid };
}

export const listKeyRows = many<ApiKeyRow, [accountUuid: string | null]>('api_key_list')`
select ${keyColumns}
from api_keys
where $1::uuid is null or account_id = $1
order by account_id, id`;

export const listAccountKeys = many<ApiKeyRow, [accountUuid: string, beforeUuid: string, count: number]>(
  'api_key_list_of_account',
)`
select ${keyColumns}
from api_keys
where account_id = $1 and id < $2
order by id desc
limit $3`;

/** Hashes of the usable keys, most recently used first. */
export const listUsableHashes = list<string, [page: { nowMs: number; limit: number }]>(
  'api_key_hashes',
  ({ nowMs, limit }) => [limit, new Date(nowMs)],
)`
select encode(hash, 'hex') as hash
from api_keys
where revoked_at is null and (expires_at is null or expires_at > $2)
order by last_used_at desc nulls last
limit $1`;

/** Hashes of the usable keys created since then, newest first. Ids are UUIDv7, so the primary key is in order of creation. */
export const listNewHashes = list<string, [page: { sinceMs: number; nowMs: number; limit: number }]>(
  'api_key_new_hashes',
  ({ sinceMs, nowMs, limit }) => [limit, new Date(nowMs), lowestUuidAt(sinceMs)],
)`
select encode(hash, 'hex') as hash
from api_keys
where id > $3 and revoked_at is null and (expires_at is null or expires_at > $2)
order by id desc
limit $1`;

/** The account's other keys with the `admin` scope that are not revoked and work until then at least. */
export const listOtherAdmins = many<
  Pick<ApiKeyRow, 'allowed_cidrs'>,
  [accountUuid: string, key: { keyUuid: string; until: Date }]
>('api_key_other_admins', (accountUuid, { keyUuid, until }) => [accountUuid, keyUuid, until])`
select allowed_cidrs
from api_keys
where account_id = $1
  and id <> $2
  and 'admin' = any(scopes)
  and revoked_at is null
  and (expires_at is null or expires_at >= $3)`;

/** Counts the account's keys that are neither revoked nor expired. */
export const countUsableKeys = single<number, [accountUuid: string, now: Date]>('api_key_count_usable')`
select count(*)::integer as keys
from api_keys
where account_id = $1
  and revoked_at is null
  and (expires_at is null or expires_at > $2)`;

const lockRow = perOwner(
  accountOf,
  (suffix, condition) => one<ApiKeyRow, [key: KeyId]>(`api_key_lock${suffix}`, idsOf)`
select ${keyColumns}
from api_keys
where ${condition} and id = $2
for no key update`,
);

/**
 * Locks until the transaction ends. Changes to the keys of one account run one after another, so that of two last admins that
 * revoke each other only one succeeds.
 */
export async function lockKey(tx: Queryable, key: KeyId): Promise<ApiKeyRow | null> {
  if (key.accountUuid !== null) await lockAccount(tx, key.accountUuid);
  return lockRow(tx, key);
}

/** Writes the fields that can change. The caller has locked the key. */
export const saveKey = perOwner(
  (key: ApiKeyRow) => key.account_id,
  (suffix, condition) =>
    run<[key: ApiKeyRow]>(`api_key_save${suffix}`, (key) => [
      key.account_id,
      key.id,
      key.name,
      key.scopes,
      key.allowed_cidrs,
      key.expires_at,
      key.revoked_at,
      key.replaced_by,
    ])`
update api_keys
set name = $3, scopes = $4, allowed_cidrs = $5, expires_at = $6, revoked_at = $7, replaced_by = $8
where ${condition} and id = $2`,
);

/** Revokes every key of the account. The caller has locked the account. */
export const revokeKeysOf = run<[accountUuid: string, at: Date]>('api_key_revoke_all')`
update api_keys
set revoked_at = $2
where account_id = $1 and revoked_at is null`;

/** A revoked key keeps its scopes. */
export const setKeyScopes = run<[uuid: string, scopes: Scope[]]>('api_key_set_scopes')`
update api_keys
set scopes = $2
where id = $1 and revoked_at is null`;

type Use = { uuid: string; usedAt: Date };

const givenUses = rowsOf<Use>({
  id: column.uuid((use) => use.uuid),
  used_at: column.timestamptz((use) => use.usedAt),
});

/** `greatest` keeps the latest time when several processes report the same key out of order. */
export const touchKeys = run<[uses: Use[]]>('api_key_touch', givenUses.values)`
update api_keys k
set last_used_at = greatest(k.last_used_at, used.used_at)
from (
  select *
  from ${givenUses.table} given
  order by id
) used
where k.id = used.id`;
