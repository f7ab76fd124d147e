import type { EsimStatus } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { single } from '../../../platform/db/statement.ts';
import { type CreatedRange, idRangeOf } from '../../../platform/lists/created-range.ts';
import { type IdPage, oldestOnPage, pageOfValue } from '../../../platform/lists/keyset.ts';
import { maxSearched, searchedEnough } from '../../../platform/lists/too-broad.ts';
import {
  type EsimRow,
  esimColumns,
  isQueuedEsim,
  queuedColumns,
  queuedEid,
  queuedMetadata,
  queuedReference,
} from './esims.ts';

type Filter = {
  status?: EsimStatus | undefined;
  productId?: string | undefined;
  eid?: string | undefined;
  reference?: string | undefined;
  metadata?: [key: string, value: string][] | undefined;
  created?: CreatedRange | undefined;
};
/** What a filter adds to the statements. */
type Conditions = {
  name: string;
  values: unknown[];
  parameter(value: unknown): string;
  stored: string;
  queued: string;
  /** The parameter of the lowest id; undefined for all. */
  from: string | undefined;
};

/**
 * Newest first, including eSIMs being provisioned. An eSIM has its order's id in both tables, so paging shows it once even if it
 * moves. Each filter has its own index and statement: a generic plan over optional filters would use no index. Of the queue,
 * a filter reads the account's claimed orders: an index would slow every order down.
 */
export async function listEsimRows(
  db: Queryable,
  accountUuid: string,
  filter: Filter,
  page: IdPage,
): Promise<EsimRow[]> {
  const { fromUuid, beforeUuid } = idRangeOf(filter.created, page.beforeUuid, idMarginMs);
  const range = { accountUuid, beforeUuid, fromUuid: filter.created && fromUuid };
  const indexed = indexedFiltersOf(filter);
  const read = (by: IndexedFilter | undefined, isBounded: boolean) =>
    readPage(db, conditionsOf(filter, range, page.count), { status: filter.status, by, isBounded });
  if (indexed.length < 2) return read(indexed[0], false);
  const guess = await findRarest(db, range, indexed, countedFirst);
  const rows = await read(guess.rarest, guess.hasMany);
  if (!guess.hasMany || rows.length === page.count) return rows;
  const { rarest, hasMany } = await findRarest(db, range, indexed, maxSearched + 1);
  if (hasMany) throw searchedEnough();
  return read(rarest, false);
}

// If no filter is rarer, any of them usually fills a page soon.
const countedFirst = 1_000;

type Plan = { status: EsimStatus | undefined; by: IndexedFilter | undefined; isBounded: boolean };

/** Looks at the eSIMs of one filter. A bounded page that is not full has stopped before the last of them. */
function readPage(
  db: Queryable,
  conditions: Conditions,
  { status, by, isBounded }: Plan,
): Promise<EsimRow[]> {
  const stored = by ? storedWith(by, conditions, isBounded) : storedAll(conditions);
  const name = `${conditions.name}${by ? `_by_${nameOf(by)}` : ''}${isBounded ? '_newest' : ''}`;
  const isStored = status !== undefined && status !== 'provisioning';
  const text = isStored ? stored : withQueued(stored, conditions, isBounded);
  return db.query({ name, text }, conditions.values);
}

function indexedFiltersOf({ status, productId, eid, reference, metadata }: Filter): IndexedFilter[] {
  return [
    ...(reference === undefined ? [] : [{ column: 'reference' as const, value: reference }]),
    ...(eid === undefined ? [] : [{ column: 'eid' as const, value: eid }]),
    ...(metadata ?? []).map(([key, value]) => ({ key, value })),
    ...(productId === undefined ? [] : [{ column: 'product_id' as const, value: productId }]),
    ...(status === undefined ? [] : [{ column: 'status' as const, value: status }]),
  ];
}

function conditionsOf(
  { status, productId, eid, reference, metadata, created }: Filter,
  { accountUuid, beforeUuid, fromUuid }: Range,
  count: number,
): Conditions {
  const values: unknown[] = [accountUuid, beforeUuid, count];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const [stored, queued]: [string[], string[]] = [[], []];
  let name = 'esim_list';
  if (status !== undefined) {
    stored.push(`and status = ${parameter(status)}`);
    name += status === 'provisioning' ? '_provisioning' : '_status';
  }
  if (productId !== undefined) {
    const given = parameter(productId);
    stored.push(`and product_id = ${given}`);
    queued.push(`and product_id = ${given}`);
    name += '_product';
  }
  if (eid !== undefined) {
    const given = parameter(eid);
    stored.push(`and eid = ${given}`);
    queued.push(`and ${queuedEid} = ${given}`);
    name += '_eid';
  }
  if (reference !== undefined) {
    const given = parameter(reference);
    stored.push(`and reference = ${given}`);
    queued.push(`and ${queuedReference} = ${given}`);
    name += '_reference';
  }
  if (metadata !== undefined) {
    const given = `${parameter(JSON.stringify(Object.fromEntries(metadata)))}::jsonb`;
    stored.push(`and metadata @> ${given}`);
    queued.push(`and ${queuedMetadata} @> ${given}`);
    name += '_metadata';
  }
  let from: string | undefined;
  if (created) {
    from = parameter(fromUuid);
    const since = `to_timestamp(${parameter(created.fromSeconds)}::float8)`;
    const until = `to_timestamp(${parameter(created.untilSeconds)}::float8)`;
    const both = `and created_at >= ${since} and created_at < ${until}`;
    stored.push(both);
    queued.push(both);
    name += '_created';
  }
  return { name, values, parameter, stored: stored.join(' '), queued: queued.join(' '), from };
}

// An order's time is read just after its id is made, so it may be later by some milliseconds.
const idMarginMs = 5_000;

const atLeast = (from: string | undefined) => (from === undefined ? '' : `and id >= ${from}`);

function storedAll({ stored, from }: Conditions): string {
  return `
select ${esimColumns}
from esims
where account_id = $1 and id < $2 ${atLeast(from)} ${stored}
order by id desc
limit $3`;
}

/**
 * Looks at the eSIMs of one filter, newest first, until the page is full. The subqueries fix the plan: the other filters only compare.
 * Two pairs that 100,000 eSIMs have each, and none has both: 320 ms to look at all of them, 80 to stop at `maxSearched`.
 */
function storedWith(
  filter: IndexedFilter,
  { parameter, stored, from: lowest }: Conditions,
  isBounded: boolean,
) {
  const { from, order } = rowsWith(filter, parameter, lowest);
  const newest = isBounded ? `limit ${maxSearched}` : '';
  if ('column' in filter) {
    return `
select ${esimColumns}
from (select * from ${from} order by ${order} ${newest}) esims
where true ${stored}
order by ${order}
limit $3`;
  }
  return `
select esim.*
from (select esim_id from ${from} order by ${order} ${newest}) tagged
cross join lateral (
  select ${esimColumns}
  from esims
  where account_id = $1 and id = tagged.esim_id ${stored}
  offset 0
) esim
order by tagged.esim_id desc
limit $3`;
}

/** With those that are being provisioned. If the search stopped before the page was full, older ones of the queue must not fill it. */
function withQueued(stored: string, { queued, from }: Conditions, isBounded: boolean): string {
  return `
with stored as materialized (${stored})
select *
from (
  (select * from stored)
  union all
  (
select ${queuedColumns}
from execution_queue
where account_id = $1 and id < $2 ${atLeast(from)} and id >= ${oldestOnPage('stored')} and fence > 0 and ${isQueuedEsim}
  ${queued}
order by id desc
limit $3)
) page
${isBounded ? 'where (select count(*) from stored) >= $3::integer' : ''}
order by id desc
limit $3`;
}

/** A filter with an index: the value of a column, or a pair of the metadata. */
type IndexedFilter =
  | { column: 'status' | 'product_id' | 'eid' | 'reference'; value: string }
  | { key: string; value: string };

type Parameter = (value: unknown) => string;
type Range = { accountUuid: string; beforeUuid: string; fromUuid: string | undefined };

function nameOf(filter: IndexedFilter): string {
  return 'column' in filter ? filter.column : 'pair';
}

/** SQL: the rows with this value, newest first, as a range of its index. `$1` is the account, `$2` the id after the range. */
function rowsWith(filter: IndexedFilter, parameter: Parameter, from: string | undefined) {
  if ('column' in filter) {
    const { column } = filter;
    const { condition, order } = pageOfValue(column, parameter(filter.value), from);
    // Not null is implied, but the partial indexes of EIDs and references require it.
    return { from: `esims where account_id = $1 and ${condition} and ${column} is not null`, order };
  }
  const pair = `key = ${parameter(filter.key)} and value = ${parameter(filter.value)}`;
  const inRange = `esim_id < $2 ${from === undefined ? '' : `and esim_id >= ${from}`}`;
  return { from: `esim_metadata where account_id = $1 and ${pair} and ${inRange}`, order: 'esim_id desc' };
}

/** The filter with the fewest rows. `hasMany`: all have `limit` or more. */
async function findRarest(
  db: Queryable,
  range: Range,
  filters: IndexedFilter[],
  limit: number,
): Promise<{ rarest: IndexedFilter | undefined; hasMany: boolean }> {
  const counts = await countRows(db, range, filters, limit);
  const fewest = Math.min(...counts);
  return { rarest: filters[counts.indexOf(fewest)], hasMany: fewest === limit };
}

function countRows(
  db: Queryable,
  { accountUuid, beforeUuid, fromUuid }: Range,
  filters: IndexedFilter[],
  limit: number,
): Promise<number[]> {
  const values: unknown[] = [accountUuid, beforeUuid, limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const lowest = fromUuid === undefined ? undefined : parameter(fromUuid);
  const counts = filters.map((filter) => {
    const { from, order } = rowsWith(filter, parameter, lowest);
    return `(select count(*) from (select from ${from} order by ${order} limit $3) counted)`;
  });
  const kinds = [...filters.map(nameOf), ...(lowest === undefined ? [] : ['created'])];
  const name = `esim_count_${kinds.join('_')}`;
  return single<number[], unknown[]>(name)`select array[${counts.join(', ')}]::integer[] as counts`(
    db,
    ...values,
  );
}
