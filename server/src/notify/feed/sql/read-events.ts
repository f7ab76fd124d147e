import type { Queryable } from '../../../platform/db/database.ts';

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

// Looked up by key, whatever the statistics say: a join would read all of the account's events.
const text = `
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

/** `types` null: all. */
type Bounds = { after: number; count: number; maxBytes: number; types: TypeFilter | null };

/**
 * The events after a position, in order, until `count` events or `maxBytes` are reached; at least one if there is one. The first row is
 * that of the position itself, for its mark. Events of other types come without their bodies, because a reader only passes them by.
 */
export function readEvents(
  db: Queryable,
  accountUuid: string,
  { after, count, maxBytes, types }: Bounds,
): Promise<FeedRow[]> {
  const values = [accountUuid, after, count, maxBytes, types?.names ?? null, types?.prefixes ?? null];
  return db.query({ name: 'feed_read', text }, values);
}
