import type { EsimStatus, SearchType } from '@simplane/contract';
import { hasReference, indexedReference } from '../../orders/executions/sql-parts.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { many, one } from '../../platform/db/statement.ts';

/** Types that have ids of our own. */
export type IdType = Exclude<
  SearchType,
  'esim' | 'account' | 'product' | 'event_consumer' | 'idempotency_key'
>;

/** `about` is a short description. `within` locates what has no path: the ICCID of a bundle, the filters for an audit entry. */
type FoundById = { about: string; within: string | null; created_at: Date };

// The request log has no `created_at`, but a UUIDv7 begins with its time.
const timeOfId = `to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

/** Columns and tables of each type. */
const places: Record<IdType, string[]> = {
  event: [`type as about, null as within, created_at from events`],
  execution: [
    `type || ', ' || status as about, null as within, created_at from executions`,
    `type || ', ' || case when attempts = 0 then 'queued' else 'running' end as about, null as within, created_at from execution_queue`,
  ],
  batch: [`total || ' orders' as about, null as within, created_at from batches`],
  webhook_endpoint: [`url as about, null as within, created_at from webhook_endpoints`],
  delivery: [
    `status as about, null as within, created_at from deliveries`,
    `'pending' as about, null as within, created_at from delivery_queue`,
    `'pending' as about, null as within, created_at from blocked_deliveries`,
  ],
  bundle: [`product_id || ', ' || status as about, iccid as within, created_at from bundles`],
  recovery: [
    `case when finished_at is null then 'open' else 'ended' end as about, null as within, created_at from recoveries`,
  ],
  request: [
    `method || ' ' || path || ', ' || status as about, null as within, ${timeOfId} as created_at from request_log`,
  ],
  audit_entry: [
    `action as about, 'action=' || action || '&target=' || target_id as within, created_at from audit_log`,
  ],
  api_key: [`name as about, null as within, created_at from api_keys`],
};

export function findById(
  db: Queryable,
  accountUuid: string,
  type: IdType,
  uuid: string,
): Promise<FoundById | null> {
  const selects = places[type].map((part) => `select ${part} where account_id = $1 and id = $2`);
  const find = one<FoundById, [accountUuid: string, uuid: string]>(`search_${type}`);
  return find`${selects.join(' union all ')}`(db, accountUuid, uuid);
}

/** What was found, and whose it is. */
type Owned<Found> = Found & { account_uuid: string; account_name: string };

/** SQL: for each account, what `select` finds in it. Its keys begin with the account, so this is a look-up for each. */
function inAllAccounts(select: string): string {
  return `
select accounts.id as account_uuid, accounts.name as account_name, found.*
from accounts
cross join lateral (${select}) found`;
}

/** Finds an object of any account by its id. */
export function findByIdAnywhere(
  db: Queryable,
  type: IdType,
  uuid: string,
): Promise<Owned<FoundById> | null> {
  const selects = places[type].map((part) => `select ${part} where account_id = accounts.id and id = $1`);
  const find = one<Owned<FoundById>, [uuid: string]>(`operator_search_${type}`);
  return find`${inAllAccounts(selects.join(' union all '))}`(db, uuid);
}

type FoundEsim = { iccid: string; status: EsimStatus; created_at: Date };

/** eSIMs whose ICCID ends with these digits, at least four, newest first. */
export const findByIccidEnd = many<FoundEsim, [accountUuid: string, digits: string, count: number]>(
  'search_iccid_end',
)`
select iccid, status, created_at
from (
  select id, iccid, status, created_at
  from esims
  where account_id = $1 and right(iccid, 4) = right($2, 4)
  offset 0
) esim
where right(iccid, length($2)) = $2
order by id desc
limit $3`;

/** An eSIM, or an execution if `iccid` is null. */
export type FoundOrder = { id: string; iccid: string | null; about: string; created_at: Date };

type OwnName = [accountUuid: string, text: string, count: number];

const endedAbout = `id, null as iccid, type || ', ' || status as about, created_at`;
const openAbout = `id, null as iccid, type || ', ' || case when attempts = 0 then 'queued' else 'running' end as about, created_at`;

/** SQL: the eSIMs and executions of an account with this reference, the newest of each. */
function ofReference(account: string, reference: string, count: string): string {
  const isReferred = `account_id = ${account} and ${indexedReference} = ${reference} and ${hasReference}`;
  return `
(select id, iccid, status as about, created_at
  from esims
  where account_id = ${account} and reference = ${reference} and reference is not null
  order by id desc
  limit ${count})
union all
(select ${openAbout} from execution_queue where ${isReferred} order by id desc limit ${count})
union all
(select ${endedAbout} from executions where ${isReferred} order by id desc limit ${count})`;
}

export const findByReference = many<FoundOrder, OwnName>(
  'search_reference',
)`${ofReference('$1', '$2', '$3')}`;

// Of open orders there is no index: it would slow every order down.
const openLookedAt = 1_000;

/** The eSIMs with this value in their metadata, and the orders that failed without an eSIM or are among the newest open ones. */
export const findByMetadata = many<FoundOrder, OwnName>('search_metadata')`
select found.*
from (
  select distinct esim_id
  from esim_metadata
  where account_id = $1 and value = $2
  order by esim_id desc
  limit $3
) tagged
cross join lateral (
  select id, iccid, status as about, created_at
  from esims
  where account_id = $1 and id = tagged.esim_id
  union all
  select ${endedAbout}
  from executions
  where account_id = $1 and id = tagged.esim_id and status = 'failed' and iccid is null
) found
union all
(select ${openAbout}
  from (
    select id, type, attempts, created_at, input
    from execution_queue
    where account_id = $1
    order by id desc
    limit ${openLookedAt}
  ) open
  where exists (select from jsonb_each_text(input -> 'metadata') as pair where pair.value = $2)
  limit $3)`;

const endsWith = inAllAccounts(`
  select iccid, status, created_at
  from (
    select id, iccid, status, created_at
    from esims
    where account_id = accounts.id and right(iccid, 4) = right($1, 4)
    offset 0
  ) esim
  where right(iccid, length($1)) = $1
  order by id desc
  limit $2`);

/** eSIMs of all accounts whose ICCID is this, or ends with these digits, at least four; the newest. */
export const findByIccidAnywhere = many<Owned<FoundEsim>, [digits: string, count: number]>(
  'operator_search_iccid',
)`
select *
from (
  ${endsWith}
  union all
  select accounts.id, accounts.name, q.iccid, 'provisioning', q.created_at
  from execution_queue q
  join accounts on accounts.id = q.account_id
  where q.iccid = $1 and q.type = 'esim.provision' and not q.is_terminated
) esim
order by created_at desc
limit $2`;

/** What has this reference in any account; the newest. */
export const findByReferenceAnywhere = many<Owned<FoundOrder>, [reference: string, count: number]>(
  'operator_search_reference',
)`
select *
from (${inAllAccounts(ofReference('accounts.id', '$1', '$2'))}) named
order by created_at desc
limit $2`;

export const findProduct = one<{ about: string; created_at: Date }, [id: string]>('search_product')`
select name as about, created_at
from products
where id = $1`;

export type FoundByName = { type: 'product' | 'event_consumer'; about: string; created_at: Date };

/** Objects whose ids people choose: products, which all accounts see, and the account's event consumers. */
export const findByName = many<FoundByName, [accountUuid: string, name: string]>('search_name')`
select 'product' as type, name as about, created_at
from products
where id = $2
union all
select 'event_consumer', coalesce(array_to_string(types, ', '), 'all types'), created_at
from event_consumers
where account_id = $1 and name = $2`;

type FoundKey = { status: number; location: string | null; created_at: Date };

export const findIdempotencyKey = one<FoundKey, [accountUuid: string, key: string, at: Date]>(
  'search_idempotency_key',
)`
select status, location, created_at
from idempotency_keys
where account_id = $1 and key = $2 and expires_at > $3`;

type Window = { iccid: string; from: Date; until: Date; stepSeconds: number };

/**
 * Bytes used in each interval that has usage. The account of the ICCID must be checked before. Reads all records of the eSIM: an index by
 * time would cost each record as much as the primary key. 25,000 records, one every 15 minutes for 260 days, take 200 ms at load 40.
 * Records that were deleted are in the sums of their days, so old windows must consist of days.
 */
export const sumUsage = many<{ start: Date; bytes: number }, [window: Window]>(
  'usage_sum_by_interval',
  ({ iccid, from, until, stepSeconds }) => [iccid, from, until, stepSeconds],
)`
select date_bin($4::integer * interval '1 second', observed_at, 'epoch') as start, sum(bytes)::float8 as bytes
from (
  select observed_at, bytes
  from usage_records
  where iccid = $1
  union all
  select day, bytes
  from usage_days
  where iccid = $1) used
where observed_at >= $2 and observed_at < $3
group by 1`;
