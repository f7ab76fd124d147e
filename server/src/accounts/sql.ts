import type { Scope } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import { lowestUuidAt } from '../ids/uuid-range.ts';

export type AccountRow = { id: string; name: string; api_version: string; created_at: Date };

export type ApiKeyRow = {
  id: string;
  account_id: string;
  name: string;
  scopes: Scope[];
  last4: string;
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
};

export type FoundKeyRow = ApiKeyRow & { account_name: string; api_version: string };

const keyColumns = 'id, account_id, name, scopes, last4, created_at, expires_at, revoked_at, last_used_at';

/** Returns one row or null per hash, in input order. */
export async function findKeysByHash(
  db: Queryable,
  hashes: readonly string[],
): Promise<(FoundKeyRow | null)[]> {
  const rows = await db.query<FoundKeyRow & { hash: string }>(
    {
      name: 'api_keys_find',
      text: `select wanted.hash, k.id, k.account_id, k.name, k.scopes, k.last4, k.created_at, k.expires_at, k.revoked_at,
                    k.last_used_at, a.name as account_name, a.api_version
             from unnest($1::text[]) as wanted (hash)
             cross join lateral (select * from api_keys where api_keys.hash = decode(wanted.hash, 'hex') offset 0) k
             join accounts a on a.id = k.account_id`,
    },
    [hashes],
  );
  const found = new Map(rows.map((row) => [row.hash, row]));
  return hashes.map((hash) => found.get(hash) ?? null);
}

/** Hashes of the usable keys, most recently used first. */
export async function listUsableHashes(
  db: Queryable,
  { nowMs, limit }: { nowMs: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    {
      name: 'api_key_hashes',
      text: `select encode(hash, 'hex') as hash from api_keys
             where revoked_at is null and (expires_at is null or expires_at > $2)
             order by last_used_at desc nulls last limit $1`,
    },
    [limit, new Date(nowMs)],
  );
  return rows.map(({ hash }) => hash);
}

/** Hashes of the usable keys created since then, newest first. Ids are UUIDv7, so the primary key is in order of creation. */
export async function listNewHashes(
  db: Queryable,
  { sinceMs, nowMs, limit }: { sinceMs: number; nowMs: number; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ hash: string }>(
    {
      name: 'api_key_new_hashes',
      text: `select encode(hash, 'hex') as hash from api_keys
             where id > $3 and revoked_at is null and (expires_at is null or expires_at > $2)
             order by id desc limit $1`,
    },
    [limit, new Date(nowMs), lowestUuidAt(sinceMs)],
  );
  return rows.map(({ hash }) => hash);
}

/** `greatest` keeps the latest time when several processes report the same key out of order. */
export async function touchKeys(db: Queryable, uses: { uuid: string; usedAt: Date }[]): Promise<void> {
  await db.query(
    {
      name: 'api_key_touch',
      text: `update api_keys k set last_used_at = greatest(k.last_used_at, u.used_at)
             from (select * from unnest($1::uuid[], $2::timestamptz[]) as u (id, used_at) order by id) u
             where k.id = u.id`,
    },
    [uses.map((use) => use.uuid), uses.map((use) => use.usedAt)],
  );
}

export async function insertAccount(db: Queryable, account: AccountRow): Promise<void> {
  await db.query(
    {
      name: 'account_insert',
      text: 'insert into accounts (id, name, api_version, created_at) values ($1, $2, $3, $4)',
    },
    [account.id, account.name, account.api_version, account.created_at],
  );
}

export function listAccountRows(db: Queryable): Promise<AccountRow[]> {
  return db.query({
    name: 'account_list',
    text: 'select id, name, api_version, created_at from accounts order by id',
  });
}

export async function findAccount(db: Queryable, uuid: string): Promise<AccountRow | null> {
  const [row] = await db.query<AccountRow>(
    { name: 'account_find', text: 'select id, name, api_version, created_at from accounts where id = $1' },
    [uuid],
  );
  return row ?? null;
}

export type NewKey = Omit<ApiKeyRow, 'revoked_at' | 'last_used_at'> & { hash: Buffer };

export async function insertKey(db: Queryable, key: NewKey): Promise<void> {
  await db.query(
    {
      name: 'api_key_insert',
      text: `insert into api_keys (id, account_id, hash, name, scopes, last4, created_at, expires_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    },
    [key.id, key.account_id, key.hash, key.name, key.scopes, key.last4, key.created_at, key.expires_at],
  );
}

/** A revoked key keeps its scopes. */
export async function setKeyScopes(db: Queryable, uuid: string, scopes: Scope[]): Promise<void> {
  await db.query(
    {
      name: 'api_key_set_scopes',
      text: 'update api_keys set scopes = $2 where id = $1 and revoked_at is null',
    },
    [uuid, scopes],
  );
}

export function listKeyRows(db: Queryable, accountUuid: string | null): Promise<ApiKeyRow[]> {
  return db.query(
    {
      name: 'api_key_list',
      text: `select ${keyColumns} from api_keys where $1::uuid is null or account_id = $1 order by account_id, id`,
    },
    [accountUuid],
  );
}

export async function revokeKeyRow(db: Queryable, uuid: string, now: Date): Promise<ApiKeyRow | null> {
  const [row] = await db.query<ApiKeyRow>(
    {
      name: 'api_key_revoke',
      text: `update api_keys set revoked_at = coalesce(revoked_at, $2) where id = $1 returning ${keyColumns}`,
    },
    [uuid, now],
  );
  return row ?? null;
}

/** Held to the end of the transaction, so that processes starting together create only one sandbox account. */
export async function lockAccounts(tx: Queryable): Promise<void> {
  await tx.query({ name: 'account_lock', text: 'lock table accounts in share row exclusive mode' });
}
