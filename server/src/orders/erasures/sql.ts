import { deployment } from '../../accounts/deployment.ts';
import { isHere } from '../../accounts/moves/is-here.ts';
import { indexedFailedOrder, indexedIccid } from '../../notify/events/ids-in-body.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { count, exists, list, many, one, run } from '../../platform/db/statement.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';

export type ErasureRow = {
  account_id: string;
  id: string;
  /** Null: the whole account. */
  iccid: string | null;
  requested_at: Date;
  step: string | null;
  after: string | null;
  finished_at: Date | null;
};

/** An erasure and where its step goes on. */
export type Place = [tx: Queryable, erasure: OpenErasure, after: string | null];
/** `order_id` is that of the eSIM. */
export type OpenErasure = ErasureRow & { order_id: string | null };

const columns = 'account_id, id, iccid, requested_at, step, after, finished_at';

/** Returns false if there is one of this target. */
export const insertErasure = exists<
  [erasure: Pick<ErasureRow, 'account_id' | 'id' | 'iccid' | 'requested_at'>]
>('erasure_insert', (row) => [row.account_id, row.id, row.iccid, row.requested_at])`
insert into erasures (account_id, id, iccid, requested_at)
values ($1, $2, $3, $4)
on conflict do nothing
returning 1`;

export const findErasure = one<ErasureRow, [accountUuid: string, iccid: string | null]>('erasure_find')`
select ${columns}
from erasures
where account_id = $1 and coalesce(iccid, '') = coalesce($2, '')`;

/**
 * The first open erasure of the next account, in the order of ids. That of an account waits until its last order has ended, and that of
 * an eSIM until its order, its top-ups and its changes have: what is left of one would be written when it ends. Skips one that another
 * process is at.
 */
export const lockNextErasure = one<OpenErasure, [afterAccountUuid: string]>('erasure_lock_next')`
select erasure.account_id, erasure.id, erasure.iccid, requested_at, step, after, finished_at, esim.execution_id as order_id
from erasures erasure
left join esims esim on esim.account_id = erasure.account_id and esim.iccid = erasure.iccid
where finished_at is null
  and erasure.account_id > $1
  and ${isHere('erasure.account_id')}
  and (erasure.iccid is not null or exists (
    select from account_closings closing
    where closing.account_id = erasure.account_id and closing.finished_at is not null))
  and not exists (
    select from execution_queue queued
    where queued.account_id = erasure.account_id and queued.id = esim.execution_id)
  and not exists (
    select from execution_queue queued
    where queued.account_id = erasure.account_id and queued.iccid = erasure.iccid and queued.type <> 'esim.provision')
order by erasure.account_id, erasure.id
limit 1
for update of erasure skip locked`;

export const advanceErasure = run<[erasure: ErasureRow]>('erasure_advance', (row) => [
  row.account_id,
  row.id,
  row.step,
  row.after,
  row.finished_at,
])`
update erasures
set step = $3,
    after = $4,
    finished_at = $5
where account_id = $1 and id = $2`;

/** Nothing personal may be written to it from now on. The caller holds the eSIM's lock. */
export const markErased = run<[accountUuid: string, iccid: string, at: Date]>('erasure_mark_esim')`
update esims
set erased_at = $3
where account_id = $1 and iccid = $2`;

// A batch takes 5 to 50 ms, so nobody waits long for a row.
const batchSize = 500;

/** SQL: sets these columns, and whether that changes anything. */
const assigned = (given: Record<string, string>) =>
  Object.entries(given)
    .map(([name, value]) => `${name} = ${value}`)
    .join(',\n    ');
const isNews = (given: Record<string, string>) =>
  `(${Object.entries(given)
    .map(([name, value]) => `${name} is distinct from ${value}`)
    .join('\n    or ')})`;

type Page = { last: string | null; count: number };
const pageOf = `select (select id from page order by id desc limit 1) as last, (select count(*)::integer from page) as count`;
const nextOf = (page: Page | null) => (page?.count === batchSize ? page.last : null);

/** Empties columns of all rows of the account, in the order of their ids. */
export function updateOfAccount(table: string, given: Record<string, string>) {
  // In ICCID order, like all who lock several eSIMs.
  const order = table === 'esims' ? 'iccid' : 'id';
  const update = one<Page, [accountUuid: string, after: string]>(`erasure_update_${table}`)`
with page as materialized (
  select id
  from ${table}
  where account_id = $1 and id > $2
  order by id
  limit ${batchSize}
), locked as materialized (
  select id
  from ${table}
  where account_id = $1 and id in (select id from page)
  order by ${order}
  for update
), erased as (
  update ${table}
  set ${assigned(given)}
  where account_id = $1 and id in (select id from locked) and ${isNews(given)}
)
${pageOf}`;
  return async (...[tx, { account_id }, after]: Place) =>
    nextOf(await update(tx, account_id, after ?? lowestUuid));
}

/** Empties columns of the eSIM, or of what it has a few of. */
export function updateOfEsim(table: string, given: Record<string, string>) {
  const update = run<[accountUuid: string, iccid: string]>(`erasure_update_${table}_of_esim`)`
update ${table}
set ${assigned(given)}
where account_id = $1 and iccid = $2`;
  return async (...[tx, { account_id, iccid }]: Place) => {
    await update(tx, account_id, iccid as string);
    return null;
  };
}

/** Deletes all rows of the account. They are gone, so the next batch starts at the same place. */
export function deleteOfAccount(table: string) {
  const remove = count<[accountUuid: string]>(`erasure_delete_${table}`)`
delete from ${table}
where ctid = any(array(select ctid from ${table} where account_id = $1 limit ${batchSize}))
returning 1`;
  return async (...[tx, { account_id }]: Place) => again(await remove(tx, account_id));
}

/** After a full batch: from the start, since what was found is not found again. */
const again = (found: number) => (found === batchSize ? '' : null);

const deleteLinks = count<[accountUuid: string, iccid: string]>('erasure_delete_install_links_of_esim')`
delete from install_links
where ctid = any(array(
  select ctid
  from install_links
  where account_id = $1 and iccid = $2
  limit ${batchSize}))
returning 1`;

export const deleteLinksOf = async (...[tx, { account_id, iccid }]: Place) =>
  again(await deleteLinks(tx, account_id, iccid as string));

/** Of records that still count, only the country goes: a record that is reported again must not count twice. */
const eraseCountries = count<[iccids: string[]]>('erasure_usage')`
update usage_records
set country = null
where ctid = any(array(
  select ctid
  from usage_records
  where iccid = any($1) and country is not null
  limit ${batchSize}))
returning 1`;

/** Whoever reported them. */
const deleteRejected = count<[iccids: string[]]>('erasure_rejected_usage')`
delete from rejected_usage
where ctid = any(array(
  select ctid
  from rejected_usage
  where iccid = any($1)
  limit ${batchSize}))
returning 1`;

export const eraseUsageOf = async (...[tx, { iccid }]: Place) =>
  again(await eraseCountries(tx, [iccid as string]));
export const deleteRejectedOf = async (...[tx, { iccid }]: Place) =>
  again(await deleteRejected(tx, [iccid as string]));
export const eraseUsageOfAccount = byEsims(eraseCountries);
export const deleteRejectedOfAccount = byEsims(deleteRejected);

const nextEsims = many<{ id: string; iccid: string }, [accountUuid: string, after: string]>('erasure_esims')`
select id, iccid
from esims
where account_id = $1 and id > $2
order by id
limit 100`;

/** What the account's eSIMs have in a table that does not name the account, for a few eSIMs at a time. */
function byEsims(erase: (tx: Queryable, iccids: string[]) => Promise<number>) {
  return async (...[tx, { account_id }, after]: Place) => {
    const esims = await nextEsims(tx, account_id, after ?? lowestUuid);
    const erased = await erase(
      tx,
      esims.map(({ iccid }) => iccid),
    );
    return erased === batchSize ? (after ?? lowestUuid) : (esims.at(-1)?.id ?? null);
  };
}

/** Requests whose path names the eSIM. The log has no index for it, so all of the account's are read. */
const eraseRequests = one<Page, [accountUuid: string, after: string, iccid: string]>('erasure_requests')`
with page as materialized (
  select id, path
  from request_log
  where account_id = $1 and id > $2
  order by id
  limit ${batchSize}
), erased as (
  update request_log
  set ip = null, error_message = null
  where account_id = $1 and id in (select id from page where strpos(path, $3) > 0)
)
${pageOf}`;

export const eraseRequestsAbout = async (...[tx, { account_id, iccid }, after]: Place) =>
  nextOf(await eraseRequests(tx, account_id, after ?? lowestUuid, iccid as string));

type StoredAnswer = { key: string; body: string | null };
export const answerBatchSize = batchSize;

/** Stored answers; with their bodies those that have one of the texts. Sealed ones cannot be read, and expire within a day like all. */
export const listAnswers = many<StoredAnswer, [accountUuid: string, after: string, texts: string[]]>(
  'erasure_list_answers',
)`
select key, case when exists (select from unnest($3::text[]) as text where strpos(body, text) > 0) then body end as body
from idempotency_keys
where account_id = $1 and key > $2
order by key
limit ${batchSize}`;

export const saveAnswers = run<[accountUuid: string, keys: string[], bodies: string[]]>(
  'erasure_save_answers',
)`
update idempotency_keys k
set body = given.body
from unnest($2::text[], $3::text[]) as given (key, body)
where k.account_id = $1 and k.key = given.key`;

/** The order of an eSIM, and those that it was a retry of. */
const orders = `orders as (
  select id, input ->> 'retry_of' as earlier
  from executions
  where account_id = $1 and id = $2
  union all
  select e.id, e.input ->> 'retry_of'
  from orders
  join executions e on e.account_id = $1 and e.id = orders.earlier::uuid
)`;

export const findOrders = list<string, [accountUuid: string, orderUuid: string]>('erasure_orders')`
with recursive ${orders}
select id
from orders`;

/** The order of the eSIM, its retries and its commands. */
export function updateOrdersOf(given: Record<string, string>) {
  const update = run<[accountUuid: string, orderUuid: string, iccid: string]>('erasure_executions_of_esim')`
with recursive ${orders}
update executions
set ${assigned(given)}
where account_id = $1 and (id in (select id from orders) or iccid = $3 and type <> 'esim.provision')`;
  return async (...[tx, { account_id, order_id, iccid }]: Place) => {
    await update(tx, account_id, order_id as string, iccid as string);
    return null;
  };
}

/** The entries about the eSIM and its install links, also of links that are gone. */
export function eraseAuditOf(given: Record<string, string>) {
  const update = one<Page, [accountUuid: string, after: string, iccid: string]>('erasure_audit_of_esim')`
with targets as materialized (
  select $3::text as id
  union
  select changes ->> 'install_link_id'
  from audit_log
  where account_id = $1 and target_id = $3 and action = 'esim.install_link_created'
), page as materialized (
  select entry.id
  from targets
  cross join lateral (
    select id
    from audit_log
    where account_id = $1 and target_id = targets.id and id > $2
    order by id
    limit ${batchSize}
    offset 0) entry
  order by entry.id
  limit ${batchSize}
), erased as (
  update audit_log
  set ${assigned(given)}
  where account_id = $1 and id in (select id from page)
)
${pageOf}`;
  return async (...[tx, { account_id, iccid }, after]: Place) =>
    nextOf(await update(tx, account_id, after ?? lowestUuid, iccid as string));
}

export type EventRow = { id: string; type: string; body: string; is_test: boolean };
export const eventBatchSize = 200;

const eventPage = (condition: string) => `
select id, type, body, is_test
from events
where account_id = $1 and id > $2 and ${condition}
order by id
limit ${eventBatchSize}`;

export const listEvents = many<EventRow, [accountUuid: string, after: string]>(
  'erasure_events',
)`${eventPage('true')}`;
export const listEventsOf = many<EventRow, [accountUuid: string, after: string, iccid: string]>(
  'erasure_events_of_esim',
)`${eventPage(`${indexedIccid} = $3`)}`;
export const listFailuresOf = many<EventRow, [accountUuid: string, after: string, executionIds: string[]]>(
  'erasure_failures_of_esim',
)`${eventPage(`type = 'esim.provisioning_failed' and ${indexedFailedOrder} = any($3)`)}`;

export const saveBodies = run<[accountUuid: string, uuids: string[], bodies: string[]]>(
  'erasure_save_bodies',
)`
update events e
set body = given.body
from unnest($2::uuid[], $3::text[]) as given (id, body)
where e.account_id = $1 and e.id = given.id`;

/** What receivers of the account and of the deployment answered to these events. */
export const forgetResponses = run<[accountUuid: string, eventUuids: string[]]>(
  'erasure_responses',
  (accountUuid, eventUuids) => [[accountUuid, deployment.uuid], eventUuids],
)`
with sent as materialized (
  select account_id, id from deliveries where account_id = any($1) and event_id = any($2)
  union all
  select account_id, id from delivery_queue where account_id = any($1) and event_id = any($2)
), attempts as (
  update delivery_attempts a
  set response_excerpt = null
  from sent
  where a.account_id = sent.account_id and a.delivery_id = sent.id and a.response_excerpt is not null
)
update deliveries d
set response_excerpt = null
from sent
where d.account_id = sent.account_id and d.id = sent.id and d.response_excerpt is not null`;

const eraseName = run<[accountUuid: string, name: string]>('erasure_account')`
update accounts
set name = $2
where id = $1`;

export const eraseAccountName =
  (name: string) =>
  async (...[tx, { account_id }]: Place) => {
    await eraseName(tx, account_id, name);
    return null;
  };
