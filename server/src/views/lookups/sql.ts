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

function oneOf(name: string, columnsAndTables: string[]) {
  const selects = columnsAndTables.map((part) => `select ${part} where account_id = $1 and id = $2`);
  return one<FoundById, [accountUuid: string, uuid: string]>(name)`${selects.join(' union all ')}`;
}

const findByType: Record<IdType, ReturnType<typeof oneOf>> = {
  event: oneOf('search_event', [`type as about, null as within, created_at from events`]),
  execution: oneOf('search_execution', [
    `type || ', ' || status as about, null as within, created_at from executions`,
    `type || ', ' || case when attempts = 0 then 'queued' else 'running' end as about, null as within, created_at from execution_queue`,
  ]),
  webhook_endpoint: oneOf('search_webhook_endpoint', [
    `url as about, null as within, created_at from webhook_endpoints`,
  ]),
  delivery: oneOf('search_delivery', [
    `status as about, null as within, created_at from deliveries`,
    `'pending' as about, null as within, created_at from delivery_queue`,
    `'pending' as about, null as within, created_at from blocked_deliveries`,
  ]),
  bundle: oneOf('search_bundle', [
    `product_id || ', ' || status as about, iccid as within, created_at from bundles`,
  ]),
  recovery: oneOf('search_recovery', [
    `case when finished_at is null then 'open' else 'ended' end as about, null as within, created_at from recoveries`,
  ]),
  request: oneOf('search_request', [
    `method || ' ' || path || ', ' || status as about, null as within, ${timeOfId} as created_at from request_log`,
  ]),
  audit_entry: oneOf('search_audit_entry', [
    `action as about, 'action=' || action || '&target=' || target_id as within, created_at from audit_log`,
  ]),
  api_key: oneOf('search_api_key', [`name as about, null as within, created_at from api_keys`]),
};

export function findById(
  db: Queryable,
  accountUuid: string,
  type: IdType,
  uuid: string,
): Promise<FoundById | null> {
  return findByType[type](db, accountUuid, uuid);
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

/** The eSIMs and executions with this reference, the newest of each. */
export const findByReference = many<FoundOrder, OwnName>('search_reference')`
(select id, iccid, status as about, created_at
  from esims
  where account_id = $1 and reference = $2 and reference is not null
  order by id desc
  limit $3)
union all
(select ${openAbout}
  from execution_queue
  where account_id = $1 and ${indexedReference} = $2 and ${hasReference}
  order by id desc
  limit $3)
union all
(select ${endedAbout}
  from executions
  where account_id = $1 and ${indexedReference} = $2 and ${hasReference}
  order by id desc
  limit $3)`;

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
