import type { EsimStatus } from '@simplane/contract';
import type { Queryable } from '../../db/database.ts';
import { type CreatedRange, idRangeOf } from '../../lists/created-range.ts';
import { oldestOnPage, pageOfValue } from '../../lists/keyset.ts';
import { columns, type EsimRow, isQueuedEsim, queuedColumns, queuedEid, queuedMetadata } from './rows.ts';

type Filter = {
  status?: EsimStatus | undefined;
  productId?: string | undefined;
  eid?: string | undefined;
  metadata?: [key: string, value: string][] | undefined;
  created?: CreatedRange | undefined;
};
type Page = { beforeUuid: string | null; count: number };

/** What a filter adds to the statements. `columns` are the stored columns with one value, and that value's parameter. */
type Conditions = {
  name: string;
  values: unknown[];
  columns: Map<string, string>;
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
export function listEsimRows(
  db: Queryable,
  accountUuid: string,
  filter: Filter,
  page: Page,
): Promise<EsimRow[]> {
  const { status, metadata, eid } = filter;
  const conditions = conditionsOf(accountUuid, filter, page);
  const { name, values, from } = conditions;
  // Few eSIMs have the same EID, so its index is better than that of the metadata.
  const isByPair = metadata !== undefined && eid === undefined;
  const stored = isByPair ? storedByPair(conditions, metadata) : storedByIndex(conditions);
  if (status !== undefined && status !== 'provisioning') return db.query({ name, text: stored }, values);
  const queued = `
select ${queuedColumns}
from execution_queue
where account_id = $1 and id < $2 ${atLeast(from)} and id >= ${oldestOnPage('stored')} and fence > 0 and ${isQueuedEsim}
  ${conditions.queued}
order by id desc
limit $3`;
  const text = `
with stored as materialized (${stored})
select *
from (
  (select * from stored)
  union all
  (${queued})
) page
order by id desc
limit $3`;
  return db.query({ name, text }, values);
}

function conditionsOf(accountUuid: string, filter: Filter, page: Page): Conditions {
  const { status, productId, eid, metadata, created } = filter;
  const { fromUuid, beforeUuid } = idRangeOf(created, page.beforeUuid, idMarginMs);
  const values: unknown[] = [accountUuid, beforeUuid, page.count];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const columns = new Map<string, string>();
  const [stored, queued]: [string[], string[]] = [[], []];
  let name = 'esim_list';
  if (status !== undefined) {
    columns.set('status', parameter(status));
    name += status === 'provisioning' ? '_provisioning' : '_status';
  }
  if (productId !== undefined) {
    columns.set('product_id', parameter(productId));
    queued.push(`and product_id = ${columns.get('product_id')}`);
    name += '_product';
  }
  if (eid !== undefined) {
    columns.set('eid', parameter(eid));
    queued.push(`and ${queuedEid} = ${columns.get('eid')}`);
    name += '_eid';
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
  return { name, values, columns, stored: stored.join(' '), queued: queued.join(' '), from };
}

// An order's time is read just after its id is made, so it may be later by some milliseconds.
const idMarginMs = 5_000;

const atLeast = (from: string | undefined, column = 'id') =>
  from === undefined ? '' : `and ${column} >= ${from}`;

/** With one column the statement fixes the index; also with an EID, which few eSIMs share. Else the planner chooses. */
function storedByIndex(conditions: Conditions): string {
  const { columns: given, stored, from } = conditions;
  const only = given.has('eid') ? 'eid' : given.size === 1 ? [...given.keys()][0] : undefined;
  if (only === undefined) {
    return `
select ${columns}
from esims
where account_id = $1 and id < $2 ${atLeast(from)} ${equal(conditions)} ${stored}
order by id desc
limit $3`;
  }
  const { condition, order } = pageOfValue(only, given.get(only) as string, from);
  // Not null is implied, but the partial index of EIDs requires it.
  return `
select ${columns}
from esims
where account_id = $1 and ${condition} and ${only} is not null ${equal(conditions, only)} ${stored}
order by ${order}
limit $3`;
}

function equal({ columns: given }: Conditions, except?: string): string {
  const others = [...given].filter(([column]) => column !== except);
  return others.map(([column, parameter]) => `and ${column} = ${parameter}`).join(' ');
}

/** Walks the eSIMs of the rarest pair. Counting stops at 1,000: above that any pair fills a page quickly, or none does. */
function storedByPair(conditions: Conditions, metadata: [string, string][]): string {
  const { values, stored, from } = conditions;
  const keys = `$${values.push(metadata.map(([key]) => key))}`;
  const pairValues = `$${values.push(metadata.map(([, value]) => value))}`;
  const inRange = `esim_id < $2 ${atLeast(from, 'esim_id')}`;
  return `
with rarest as materialized (
  select pair.key, pair.value
  from unnest(${keys}::text[], ${pairValues}::text[]) with ordinality as pair (key, value, n)
  cross join lateral (
    select count(*) as entries
    from (
      select
      from esim_metadata
      where account_id = $1 and key = pair.key and value = pair.value and ${inRange}
      limit 1000
    ) counted
  ) few
  order by entries, n
  limit 1
)
select esim.*
from esim_metadata tagged
cross join lateral (
  select ${columns}
  from esims
  where account_id = $1 and id = tagged.esim_id ${equal(conditions)} ${stored}
  offset 0
) esim
where tagged.account_id = $1
  and tagged.key = (select key from rarest)
  and tagged.value = (select value from rarest)
  and ${inRange}
order by tagged.esim_id desc
limit $3`;
}
