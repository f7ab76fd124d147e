import type { EsimStatus, PageLanguage, ProfileError, ProfileState } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { exists, many, run, single } from '../../platform/db/statement.ts';

export type LinkRow = {
  account_id: string;
  id: string;
  iccid: string;
  language: PageLanguage | null;
  return_url: string | null;
  created_at: Date;
  expires_at: Date;
  opened_at: Date | null;
  installed_at: Date | null;
};

const linkColumns = `account_id, id, iccid, language, return_url, created_at, expires_at, opened_at, installed_at`;

export const insertLink = run<[link: LinkRow, hash: Buffer]>('install_link_insert', (link, hash) => [
  link.account_id,
  link.id,
  link.iccid,
  hash,
  link.language,
  link.return_url,
  link.created_at,
  link.expires_at,
])`
insert into install_links (account_id, id, iccid, hash, language, return_url, created_at, expires_at)
values ($1, $2, $3, $4, $5, $6, $7, $8)`;

type Key = Pick<LinkRow, 'account_id' | 'iccid'>;

export const countLinks = single<number, [esim: Key]>('install_link_count', (esim) => [
  esim.account_id,
  esim.iccid,
])`
select count(*)::integer
from install_links
where account_id = $1 and iccid = $2`;

export const deleteExpiredLinks = run<[esim: Key, now: Date]>('install_link_delete_expired', (esim, now) => [
  esim.account_id,
  esim.iccid,
  now,
])`
delete from install_links
where account_id = $1 and iccid = $2 and expires_at <= $3`;

/** Newest first. */
export const listLinkRows = many<
  LinkRow,
  [accountUuid: string, iccid: string, beforeUuid: string, count: number]
>('install_link_list')`
select ${linkColumns}
from install_links
where account_id = $1 and iccid = $2 and id < $3
order by id desc
limit $4`;

/** Returns whether the eSIM had this link. */
export const deleteLink = exists<[accountUuid: string, iccid: string, uuid: string]>('install_link_delete')`
delete from install_links
where account_id = $1 and iccid = $2 and id = $3
returning 1`;

/** The profile was installed: stores when on the eSIM's links that do not know it yet. */
export const markInstalled = run<[esim: Key, at: Date]>('install_link_mark_installed', (esim, at) => [
  esim.account_id,
  esim.iccid,
  at,
])`
update install_links
set installed_at = $3
where account_id = $1 and iccid = $2 and installed_at is null`;

/** Returns whether this is the first view. */
export const markOpened = exists<[link: Pick<LinkRow, 'account_id' | 'id'>, at: Date]>(
  'install_link_mark_opened',
  (link, at) => [link.account_id, link.id, at],
)`
update install_links
set opened_at = $3
where account_id = $1 and id = $2 and opened_at is null
returning 1`;

/** A link that works, with what its page shows of the eSIM. */
export type FoundLink = LinkRow & {
  account_name: string;
  status: EsimStatus;
  profile_state: ProfileState;
  profile_error: ProfileError | null;
  product_id: string;
  reference: string | null;
  confirmation_code_required: boolean;
};

/** The hash of a token, in hex, and when it was used. */
export type UsedToken = { hash: string; at: Date };

const used = rowsOf<UsedToken>({
  hash: column.text((token) => token.hash),
  at: column.timestamptz((token) => token.at),
});

const findByHashes = many<FoundLink & { n: number }, [tokens: readonly UsedToken[]]>(
  'install_link_find',
  used.values,
)`
select used.n::integer, link.*, account.name as account_name, esim.status, esim.profile_state, esim.profile_error, esim.product_id,
  esim.reference, esim.confirmation_code_required
from ${used.table} used
cross join lateral (
  select ${linkColumns}
  from install_links
  where install_links.hash = decode(used.hash, 'hex') and install_links.expires_at > used.at
  offset 0
) link
join accounts account on account.id = link.account_id
join esims esim on esim.account_id = link.account_id and esim.iccid = link.iccid
where esim.status in ('provisioned', 'active', 'suspended') and account.closed_at is null`;

/** Returns one link or null per token, in input order. */
export async function findLinks(db: Queryable, tokens: readonly UsedToken[]): Promise<(FoundLink | null)[]> {
  const found = new Map((await findByHashes(db, tokens)).map((row) => [row.n, row]));
  return tokens.map((_, index) => found.get(index + 1) ?? null);
}
