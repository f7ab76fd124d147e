import type { Queryable } from '../../../platform/db/database.ts';
import { forceKeyLookup } from '../../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { many } from '../../../platform/db/statement.ts';
import { positionOfEvent } from '../sql-pieces.ts';

/** The deliveries of one eSIM to one endpoint, which are sent one after the other. */
export type OrderKey = { accountUuid: string; endpointUuid: string; iccid: string };

/** A delivery that has become the first of its key and is due now. */
export type Promoted = OrderKey & { deliveryUuid: string };

/**
 * Whether the first blocked delivery of a key (`account_id`, `endpoint_id`, `order_key`) may be sent. It overtakes none: an earlier
 * event's delivery and position commit no later than its own position. So a statement that sees the latter sees every earlier
 * delivery: ended, in the queue, with a lower stored position and so the first itself, or `unplaced`.
 */
function isNextInOrder(key: string): string {
  return `(
    select status
    from webhook_endpoints
    where account_id = ${key}.account_id and id = ${key}.endpoint_id) = 'enabled'
  and not exists (
    select from (
      select account_id
      from delivery_queue
      where endpoint_id = ${key}.endpoint_id and order_key = ${key}.order_key
      offset 0) queued
    where queued.account_id = ${key}.account_id)
  -- A recovery may add deliveries that come before.
  and not exists (
    select from recoveries
    where account_id = ${key}.account_id and endpoint_id = ${key}.endpoint_id and finished_at is null
    offset 0)
  and not exists (
    select from (
      select account_id, event_id
      from blocked_deliveries
      where endpoint_id = ${key}.endpoint_id and order_key = ${key}.order_key and position is null
      offset 0) unplaced
    where unplaced.account_id = ${key}.account_id
      and ${positionOfEvent('unplaced.account_id', 'unplaced.event_id')} is not null)`;
}

type Page = {
  keys: OrderKey[];
  /** Where the next page starts; null after the last. */
  nextEvent: string | null;
};

type PlacedRow = OrderKey & { eventUuid: string; isPlaced: boolean };

const setKnownPositions = many<PlacedRow, [afterEvent: string, count: number]>('ordered_set_positions')`
with unplaced as materialized (
  select b.account_id, b.id, b.event_id
  from blocked_deliveries b
  where b.position is null and b.event_id > $1 and b.event_id <= (
    select head.newest_id
    from event_feed_heads head
    where head.account_id = b.account_id)
  order by b.event_id
  limit $2
  for update skip locked
), found as materialized (
  select account_id, id, event_id, ${positionOfEvent('unplaced.account_id', 'unplaced.event_id')} as position
  from unplaced
), placed as (
  update blocked_deliveries b
  set position = found.position
  from found
  where b.account_id = found.account_id and b.id = found.id and found.position is not null
    and ${forceKeyLookup('found.position')}
  returning b.account_id, b.id, b.endpoint_id, b.order_key
)
select found.event_id as "eventUuid", placed.id is not null as "isPlaced",
  found.account_id as "accountUuid", placed.endpoint_id as "endpointUuid", placed.order_key as iccid
from found
left join placed on placed.account_id = found.account_id and placed.id = found.id
order by found.event_id`;

/**
 * Stores the position of blocked deliveries whose event has got one. May run in any number of processes and be killed anywhere:
 * `isNextInOrder` does not rely on the order in which positions are stored. Events above the newest sequenced id are passed over
 * without a search.
 */
export async function setPositions(db: Queryable, afterEvent: string, count: number): Promise<Page> {
  const rows = await setKnownPositions(db, afterEvent, count);
  const keys = rows.filter(({ isPlaced }) => isPlaced);
  return { keys, nextEvent: rows.length < count ? null : (rows.at(-1)?.eventUuid ?? null) };
}

/** A place in the walk over all keys. */
export type Place = { endpointUuid: string; iccid: string };

type Walked = {
  keys: OrderKey[];
  /** Where the next walk starts; null after the last key. */
  next: Place | null;
};

type WalkedRow = OrderKey & { isPromotable: boolean; walked: number };

function walk(name: string, nextAfter: (endpoint: string, iccid: string) => string) {
  const next = (endpoint: string, iccid: string) => `
    select b.account_id, b.endpoint_id, b.order_key
    from blocked_deliveries b
    where ${nextAfter(endpoint, iccid)}
    order by b.endpoint_id, b.order_key
    limit 1`;
  return many<WalkedRow, [endpointUuid: string, iccid: string, count: number]>(name)`
with recursive key as (
  (${next('$1', '$2')})
  union all
  select following.account_id, following.endpoint_id, following.order_key
  from key
  cross join lateral (${next('key.endpoint_id', 'key.order_key')}) following
), walked as materialized (
  select account_id, endpoint_id, order_key, row_number() over () as n
  from key
  limit $3
), judged as materialized (
  select account_id, endpoint_id, order_key, n, ${isNextInOrder('walked')} and exists (
    select from blocked_deliveries
    where endpoint_id = walked.endpoint_id and order_key = walked.order_key and position is not null
    offset 0) as is_promotable
  from walked
)
select account_id as "accountUuid", endpoint_id as "endpointUuid", order_key as iccid, is_promotable as "isPromotable",
  n::integer as walked
from judged
where is_promotable or n = (select max(n) from walked)
order by n`;
}

const walkAll = walk(
  'ordered_find_promotable',
  (endpoint, iccid) => `(b.endpoint_id, b.order_key) > (${endpoint}, ${iccid})`,
);
const walkEndpoint = walk(
  'ordered_find_promotable_of_endpoint',
  (_, iccid) => `b.endpoint_id = $1 and b.order_key > ${iccid}`,
);

/** Walks up to `count` keys, by a skip scan over the index, and returns those whose first delivery may be sent. */
export async function findPromotable(
  db: Queryable,
  after: Place,
  { count, isOneEndpoint }: { count: number; isOneEndpoint: boolean },
): Promise<Walked> {
  const rows = await (isOneEndpoint ? walkEndpoint : walkAll)(db, after.endpointUuid, after.iccid, count);
  const last = rows.at(-1);
  return {
    keys: rows.filter(({ isPromotable }) => isPromotable),
    next: last?.walked === count ? last : null,
  };
}

const given = rowsOf<OrderKey>({
  account_id: column.uuid((key) => key.accountUuid),
  endpoint_id: column.uuid((key) => key.endpointUuid),
  order_key: column.text((key) => key.iccid),
});

/**
 * Moves the first blocked delivery of each key to the queue, unless one is there already. Two statements at once cannot both move
 * one: the second waits for the first's row lock (`skip locked` would let it take the next delivery), and then finds a row in the
 * unique index. The keys must be sorted, so that two statements lock them in the same order.
 */
export const promoteFirst = many<Promoted, [keys: OrderKey[]]>('ordered_promote', (keys) =>
  given.values(keys),
)`
with first as materialized (
  select blocked.*
  from ${given.table} key
  cross join lateral (
    select ctid, account_id, id, event_id, event_account_id, endpoint_id, origin, order_key, created_at
    from blocked_deliveries
    where endpoint_id = key.endpoint_id and order_key = key.order_key and position is not null
    order by position, event_id
    limit 1
    for update) blocked
  where blocked.account_id = key.account_id and ${isNextInOrder('key')}
), promoted as (
  insert into delivery_queue (account_id, id, event_id, event_account_id, endpoint_id, origin, order_key, created_at)
  select account_id, id, event_id, event_account_id, endpoint_id, origin,
    -- Retention may have deleted the event of a recovered delivery. It is never sent then, so it must not block others.
    case when exists (
      select from events
      where events.account_id = coalesce(first.event_account_id, first.account_id) and events.id = first.event_id) then order_key end,
    created_at
  from first
  on conflict (endpoint_id, order_key) where order_key is not null do nothing
  returning account_id, endpoint_id, order_key, id
), removed as (
  -- By ctid: the row is locked, and a plan made while the table was small could read it completely for a join by key.
  delete from blocked_deliveries
  where ctid = any(array(
    select first.ctid
    from first
    join promoted on promoted.account_id = first.account_id and promoted.id = first.id))
)
select account_id as "accountUuid", endpoint_id as "endpointUuid", order_key as iccid, id as "deliveryUuid"
from promoted`;
