import type { Queryable } from '../../../platform/db/database.ts';
import { many, one } from '../../../platform/db/statement.ts';

export type Head = {
  position: number;
  mark: number;
  /** Events up to this position have been removed. */
  expiredThrough: number;
  /** The mark of that position; null if nothing has been removed. */
  expiredMark: number | null;
};

/** The end of a feed, and the mark of a position in it, as they were at one moment. A mark is null if the feed does not reach back to it. */
export type Located = Head & { markAt: number | null };

const empty: Located = { position: 0, mark: 0, expiredThrough: 0, expiredMark: null, markAt: null };

const markAt = (position: string) => `(
    select run.mark
    from event_feed run
    where run.account_id = head.account_id and run.first_position <= ${position}
    order by run.first_position desc
    limit 1)`;

/** Selects a `Head` from `event_feed_heads head`. */
const headColumns = `head.last_position as position,
  head.mark,
  head.expired_through as "expiredThrough",
  case when head.expired_through > 0 then ${markAt('head.expired_through')} end as "expiredMark"`;

const locate = `
select ${headColumns},
  ${markAt('$2')} as "markAt"
from event_feed_heads head
where head.account_id = $1`;

type Place = [accountUuid: string, position: number];
const locateStored = one<Located, Place>('feed_locate')`${locate}`;
const locateWritable = one<Located, Place>('feed_locate_current')`${locate}\nfor key share`;

/** The feed as it is around a position. */
export async function locatePosition(db: Queryable, ...place: Place): Promise<Located> {
  return (await locateStored(db, ...place)) ?? empty;
}

/** Like `locatePosition`, but fails on a server that takes no writes, where the end may be an old one. */
export async function locateCurrentPosition(db: Queryable, ...place: Place): Promise<Located> {
  return (await locateWritable(db, ...place)) ?? empty;
}

type LocatedSince = Located & { since: number | null };

const locateStoredSince = one<LocatedSince, [accountUuid: string, fromUuid: string]>('feed_locate_since')`
with first as (
  select (
    select min(run.first_position + one.number - 1)
    from unnest(run.event_ids) with ordinality as one (event_id, number)
    where one.event_id >= $2) as position
  from event_feed run
  where run.account_id = $1 and run.newest_id >= $2
  order by run.newest_id, run.first_position
  limit 1
)
select ${headColumns},
  first.position as since,
  ${markAt('first.position - 1')} as "markAt"
from event_feed_heads head
left join first on true
where head.account_id = $1`;

/** The position of the first event whose id is not below `fromUuid` (null if there is none yet), and the mark of the one before it. */
export async function locateSince(
  db: Queryable,
  accountUuid: string,
  fromUuid: string,
): Promise<LocatedSince> {
  return (await locateStoredSince(db, accountUuid, fromUuid)) ?? { ...empty, since: null };
}

/** The last position of each of these accounts that has events. */
export const findHeads = many<{ accountUuid: string; position: number }, [accountUuids: string[]]>(
  'feed_heads',
)`
select account_id as "accountUuid", last_position as position
from event_feed_heads
where account_id = any($1::uuid[])`;

export type FeedRow = {
  position: number;
  mark: number;
  /** Whose event it is, in the deployment's feed; null in an account's. */
  accountUuid: string | null;
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
  (select first_position, mark, event_ids, event_accounts
    from event_feed
    where account_id = $1 and first_position <= $2
    order by first_position desc
    limit 1)
  union all
  (select first_position, mark, event_ids, event_accounts
    from event_feed
    where account_id = $1 and first_position > $2 and first_position <= $2::bigint + $3::bigint
    order by first_position)
), placed as materialized (
  select runs.first_position + one.number - 1 as position, runs.mark, one.event_id,
    coalesce(one.account_id, $1) as account_id, one.account_id as "accountUuid"
  from runs
  cross join lateral unnest(runs.event_ids, runs.event_accounts) with ordinality as one (event_id, account_id, number)
  where runs.first_position + one.number - 1 between $2::bigint and $2::bigint + $3::bigint
), page as (
  select placed.position, placed.mark, placed."accountUuid", event.type, event.body,
    sum(octet_length(event.body)) over (order by placed.position) as total_bytes
  from placed
  left join lateral (
    select type, case when ${isWanted} then body else '' end as body
    from events
    where account_id = placed.account_id and id = placed.event_id and placed.position > $2
    offset 0) event on true
)
select position, mark, "accountUuid", type, body
from page
where coalesce(total_bytes - octet_length(body), 0) < $4
order by position`;
