import type { Queryable } from '../../../platform/db/database.ts';
import { count } from '../../../platform/db/statement.ts';
import { pageOfValue } from '../../../platform/lists/keyset.ts';
import { maxSearched, searchedEnough } from '../../../platform/lists/too-broad.ts';
import {
  dataField,
  hasReference,
  indexedFailedOrder,
  indexedIccid,
  indexedReference,
  referenceKey,
} from '../ids-in-body.ts';
import { typeRanges } from '../subscriptions.ts';
import { isUndelivered, undeliveredOf } from '../undelivered-parts.ts';
import { type CutEvents, isOfTypes, queryWithinBytes } from './page.ts';

export type DeliveryState = 'pending' | 'failed' | 'canceled' | 'undelivered';

/**
 * SQL: whether a delivery of the row of `events` is pending. The account is compared outside the subquery. Inside, a plan may read the
 * account's whole queue for each event.
 */
const hasPendingDelivery = `exists (
    select from (
      select account_id from delivery_queue where event_id = events.id
      union all
      select account_id from blocked_deliveries where event_id = events.id
      offset 0) pending
    where pending.account_id = events.account_id)`;

/** What the events are about. At least one is given. */
export type About = {
  iccid: string | undefined;
  execution: { id: string; uuid: string } | undefined;
  reference?: string | undefined;
};

export type EventRange = { beforeUuid: string; fromUuid: string; count: number; maxBytes: number };

/** Further filters. */
type Further = { types: string[] | undefined; delivery: DeliveryState | undefined };

const hasEnded = (status: 'failed' | 'canceled') => `exists (
    select from deliveries d
    where d.account_id = events.account_id and d.event_id = events.id and d.status = '${status}')`;

const hasDelivery: Record<DeliveryState, string> = {
  pending: hasPendingDelivery,
  failed: hasEnded('failed'),
  canceled: hasEnded('canceled'),
  undelivered: isUndelivered('events'),
};

/**
 * The events of an eSIM, an execution or a reference, newest first. They are few, so the other filters need no index. An execution's
 * events have the ICCID of its eSIM; only a failed order may have none.
 */
export function listEventsAbout(
  db: Queryable,
  accountUuid: string,
  { iccid, execution, reference }: About,
  page: EventRange,
  { types, delivery }: Further,
): Promise<CutEvents> {
  const values: unknown[] = [accountUuid, page.beforeUuid, page.fromUuid, page.count];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const kinds = Object.entries({ esim: iccid, execution, reference }).filter(
    ([, given]) => given !== undefined,
  );
  const name = [
    'event_list',
    ...kinds.map(([kind]) => kind),
    ...(types ? ['types'] : []),
    ...(delivery ? [delivery] : []),
  ];
  const conditions: string[] = [];
  const caused = execution && parameter(execution.id);
  if (caused) conditions.push(`and ${dataField('execution_id')} = ${caused}`);
  const referred = reference === undefined ? undefined : parameter(reference);
  if (referred) conditions.push(`and ${dataField('reference')} = ${referred}`);
  if (types) {
    const [first, last] = typeRanges(types);
    conditions.push(`and ${isOfTypes(values.push(first))}`);
    values.push(last);
  }
  if (delivery) conditions.push(`and ${hasDelivery[delivery]}`);
  const further = conditions.join(' ');
  const text =
    iccid !== undefined
      ? ofEsim(parameter(iccid), further)
      : execution
        ? ofExecution(parameter(execution.uuid), caused as string, further)
        : ofReference(parameter(referenceKey(reference as string)), further);
  return queryWithinBytes(db, { name: name.join('_'), text }, values, page.maxBytes);
}

function ofReference(key: string, conditions: string): string {
  const { condition, order } = pageOfValue(indexedReference, key, '$3');
  return `
select id, body
from events
where account_id = $1 and ${condition} and ${hasReference} ${conditions}
order by ${order}
limit $4`;
}

function ofEsim(iccid: string, conditions: string): string {
  const { condition, order } = pageOfValue(indexedIccid, iccid, '$3');
  return `
select id, body
from events
where account_id = $1 and ${condition} and ${dataField('iccid')} = ${iccid} ${conditions}
order by ${order}
limit $4`;
}

function ofExecution(uuid: string, id: string, conditions: string): string {
  const failed = pageOfValue(indexedFailedOrder, id, '$3');
  return `
with execution as materialized (
  select iccid
  from executions
  where account_id = $1 and id = ${uuid}
  union all
  select iccid
  from execution_queue
  where account_id = $1 and id = ${uuid}
)
select id, body
from (
  (${ofEsim('(select iccid from execution)', `and type <> 'esim.provisioning_failed' ${conditions}`)})
  union all
  (
select id, body
from events
where account_id = $1 and type = 'esim.provisioning_failed' and ${failed.condition} ${conditions}
order by ${failed.order}
limit $4)
) page
order by id desc
limit $4`;
}

type Filter = { delivery: DeliveryState; types: string[] | undefined };

/**
 * Newest first. Starts from the deliveries, which are few unless an endpoint is down: with 400,000 events and none pending it takes
 * 1 ms, and a walk over the events 2 s.
 */
export async function listEventsByDelivery(
  db: Queryable,
  accountUuid: string,
  { delivery, types }: Filter,
  { beforeUuid, fromUuid, count, maxBytes }: EventRange,
): Promise<CutEvents> {
  const range = [accountUuid, beforeUuid, fromUuid] as const;
  const values = [...range, count, ...(types ? typeRanges(types) : [])];
  const read = (source: Source) => queryWithinBytes(db, statementOf(source, types), values, maxBytes);
  const isCut = (source: keyof typeof countBeyond) => countBeyond[source](db, ...range);
  const hasMorePending = (than: number) => countMorePending(db, accountUuid, than);

  if (delivery === 'undelivered') {
    return queryWithinBytes(db, undelivered(types), values, maxBytes);
  }
  if (delivery !== 'pending') {
    const isPart = await isCut(delivery);
    const page = await read(delivery);
    if (isPart && page.found < count) throw searchedEnough();
    return page;
  }
  if (!(await hasMorePending(fewPending))) return read('pending');
  // A backlog. Usually the newest events fill a page.
  const page = await read('newest');
  if (page.found === count) return page;
  if (!(await hasMorePending(maxSearched))) return read('pending');
  if (await isCut('newest')) throw searchedEnough();
  return page;
}

const fewPending = 200;

const inRange = (column: string) => `account_id = $1 and ${column} < $2 and ${column} >= $3`;

/** The events that a page may look at. Of the pending ones there is no index in this order: the queue would be slower to write. */
const candidates = {
  failed: `select event_id from deliveries where status = 'failed' and ${inRange('event_id')} group by event_id`,
  canceled: `select event_id from deliveries where status = 'canceled' and ${inRange('event_id')} group by event_id`,
  pending: `
  select event_id from delivery_queue where ${inRange('event_id')}
  union
  select event_id from blocked_deliveries where ${inRange('event_id')}`,
  newest: `select id as event_id from events where ${inRange('id')}`,
};

type Source = keyof typeof candidates;

/** A page of each endpoint's undelivered events, merged. An endpoint that missed nothing costs two look-ups. */
function undelivered(types: string[] | undefined) {
  const isWanted = (type: string) => `exists (
        select from unnest($5::text[], $6::text[]) as range (first, last)
        where ${type} >= range.first and ${type} < range.last)`;
  const part = { limit: '$4', order: 'desc', from: '$3', until: '$2' } as const;
  return {
    name: `event_list_undelivered${types ? '_types' : ''}`,
    text: `
select one.*
from (
  select distinct missed.id
  from webhook_endpoints e
  cross join lateral ${undeliveredOf('e', types ? { ...part, isWanted } : part)} missed
  where e.account_id = $1
  order by missed.id desc
  limit $4
) candidate
cross join lateral (select id, body from events where account_id = $1 and id = candidate.id offset 0) one
order by candidate.id desc`,
  };
}

function statementOf(source: Source, types: string[] | undefined) {
  const isOfTheseTypes = types ? `and ${isOfTypes(5)}` : '';
  const isPending = source === 'newest' ? `and ${hasPendingDelivery}` : '';
  return {
    name: `event_list_${source}${types ? '_types' : ''}`,
    text: `
select one.*
from (${candidates[source]} order by event_id desc limit ${maxSearched}) candidate
cross join lateral (
  select id, body
  from events
  where account_id = $1 and id = candidate.event_id ${isOfTheseTypes} ${isPending}
  offset 0
) one
order by candidate.event_id desc
limit $4`,
  };
}

/** Whether there are more candidates than a page looks at: 1 or 0. */
function beyond(source: Source) {
  return count<[accountUuid: string, beforeUuid: string, fromUuid: string]>(`event_list_many_${source}`)`
select
from (${candidates[source]} order by event_id desc) candidate
offset ${maxSearched} limit 1`;
}

const countBeyond = { failed: beyond('failed'), canceled: beyond('canceled'), newest: beyond('newest') };

const countMorePending = count<[accountUuid: string, than: number]>('event_list_more_pending')`
select
from (
  (select from delivery_queue where account_id = $1 order by id limit $2::integer + 1)
  union all
  (select from blocked_deliveries where account_id = $1 order by id limit $2::integer + 1)
) pending
offset $2::integer limit 1`;
