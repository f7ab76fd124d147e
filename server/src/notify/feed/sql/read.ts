import type { Queryable } from '../../../platform/db/database.ts';
import { many, one, value } from '../../../platform/db/statement.ts';

export type Head = {
  position: number;
  mark: number;
  /** Events up to this position have been removed. */
  expiredThrough: number;
};

const empty: Head = { position: 0, mark: 0, expiredThrough: 0 };

const headOf = `
select last_position as position, mark, expired_through as "expiredThrough"
from event_feed_heads
where account_id = $1`;

const findStoredHead = one<Head, [accountUuid: string]>('feed_head')`${headOf}`;
const findWritableHead = one<Head, [accountUuid: string]>('feed_head_current')`${headOf}\nfor key share`;

/** The end of the account's feed. */
export async function findHead(db: Queryable, accountUuid: string): Promise<Head> {
  return (await findStoredHead(db, accountUuid)) ?? empty;
}

/** Like `findHead`, but fails on a server that takes no writes, where the end may be an old one. */
export async function findCurrentHead(db: Queryable, accountUuid: string): Promise<Head> {
  return (await findWritableHead(db, accountUuid)) ?? empty;
}

/** The last position of each of these accounts that has events. */
export const findHeads = many<{ accountUuid: string; position: number }, [accountUuids: string[]]>(
  'feed_heads',
)`
select account_id as "accountUuid", last_position as position
from event_feed_heads
where account_id = any($1::uuid[])`;

/** The mark of a position; null if the feed does not reach back to it. The caller checks that it does not end before it. */
export const findMark = value<number, [accountUuid: string, position: number]>('feed_mark')`
select mark
from event_feed
where account_id = $1 and first_position <= $2
order by first_position desc
limit 1`;

/** The position of the first event whose id is not below `fromUuid`; null if there is none yet. */
export const findPositionSince = value<number, [accountUuid: string, fromUuid: string]>(
  'feed_position_since',
)`
select (
  select min(run.first_position + one.number - 1)
  from unnest(run.event_ids) with ordinality as one (event_id, number)
  where one.event_id >= $2) as position
from event_feed run
where run.account_id = $1 and run.newest_id >= $2
order by run.newest_id, run.first_position
limit 1`;

export type FeedRow = {
  position: number;
  mark: number;
  /** Null for the row of `after` itself, and for an event that was removed. */
  type: string | null;
  /** Empty if the type is not wanted. */
  body: string | null;
};

/** Event types by name, and families such as `esim.*` by their prefix. */
export type TypeFilter = { names: string[]; prefixes: string[] };

const isWanted = `$5::text[] is null or type = any($5) or exists (
      select from unnest($6::text[]) as family (prefix)
      where starts_with(type, family.prefix))`;

/** `types` null: all. */
type Bounds = { after: number; count: number; maxBytes: number; types: TypeFilter | null };

/**
 * The events after a position, in order, until `count` events or `maxBytes` are reached; at least one if there is one. The first row is
 * that of the position itself, for its mark. Events of other types come without their bodies, because a reader only passes them by.
 * Looked up by key, whatever the statistics say: a join would read all of the account's events.
 */
export const readEvents = many<FeedRow, [accountUuid: string, bounds: Bounds]>(
  'feed_read',
  (accountUuid, { after, count, maxBytes, types }) => [
    accountUuid,
    after,
    count,
    maxBytes,
    types?.names ?? null,
    types?.prefixes ?? null,
  ],
)`
with runs as (
  (select first_position, mark, event_ids
    from event_feed
    where account_id = $1 and first_position <= $2
    order by first_position desc
    limit 1)
  union all
  (select first_position, mark, event_ids
    from event_feed
    where account_id = $1 and first_position > $2 and first_position <= $2::bigint + $3::bigint
    order by first_position)
), placed as materialized (
  select runs.first_position + one.number - 1 as position, runs.mark, one.event_id
  from runs
  cross join lateral unnest(runs.event_ids) with ordinality as one (event_id, number)
  where runs.first_position + one.number - 1 between $2::bigint and $2::bigint + $3::bigint
), page as (
  select placed.position, placed.mark, event.type, event.body,
    sum(octet_length(event.body)) over (order by placed.position) as total_bytes
  from placed
  left join lateral (
    select type, case when ${isWanted} then body else '' end as body
    from events
    where account_id = $1 and id = placed.event_id and placed.position > $2
    offset 0) event on true
)
select position, mark, type, body
from page
where coalesce(total_bytes - octet_length(body), 0) < $4
order by position`;
