import { many, run } from '../../../platform/db/statement.ts';
import { lowestUuid } from '../../../platform/ids/uuid-range.ts';
import { beforeFirst } from '../../../platform/lists/keyset.ts';
import { typeRanges } from '../../events/subscriptions.ts';
import { msOfId, undeliveredOf } from '../../events/undelivered-parts.ts';

export type EndpointKey = { accountUuid: string; endpointUuid: string };

type Wanted = {
  /** Ids of events. */
  fromEvent?: string | undefined;
  untilEvent?: string | undefined;
  /** Names and families. */
  types?: string[] | undefined;
  limit: number;
};

export type UndeliveredCount = { type: string; day: string; count: number; oldest_ms: number };

const inRanges = (type: string) => `($6::text[] is null or exists (
        select from unnest($6::text[], $7::text[]) as range (first, last)
        where ${type} >= range.first and ${type} < range.last))`;

/** How many events are undelivered at the endpoint, by type and day of UTC, the oldest up to `limit`. */
export const countUndelivered = many<UndeliveredCount, [key: EndpointKey, wanted: Wanted]>(
  'undelivered_count',
  ({ accountUuid, endpointUuid }, { fromEvent, untilEvent, types, limit }) => [
    accountUuid,
    endpointUuid,
    fromEvent ?? lowestUuid,
    untilEvent ?? beforeFirst,
    limit,
    ...(types ? typeRanges(types) : [null, null]),
  ],
)`
select type, to_char(to_timestamp(at_ms / 1000) at time zone 'UTC', 'YYYY-MM-DD') as day, count(*)::integer as count,
  min(at_ms) as oldest_ms
from webhook_endpoints e
cross join lateral ${undeliveredOf('e', { limit: '$5::integer', order: 'asc', from: '$3::uuid', until: '$4::uuid', isWanted: inRanges })} missed
cross join lateral (select ${msOfId('missed.id::text')} as at_ms) moment
where e.account_id = $1 and e.id = $2
group by 1, 2
order by 2, 3 desc, 1`;

/** Gaps of an endpoint. Beyond, the last one is extended. */
const maxGaps = 100;

/**
 * Notes that the endpoint was disabled until `at`, with the subscriptions it has now. Call it before it is enabled, or subscribes to
 * something else. Does nothing if it is enabled. A gap soon after another of the same types extends it: what was sent in between has
 * deliveries, and does not count.
 */
export const insertGap = run<[key: EndpointKey, at: Date]>('endpoint_note_gap', (key, at) => [
  key.accountUuid,
  key.endpointUuid,
  at,
])`
with endpoint as (
  select account_id, id, enabled_event_types,
    greatest(disabled_at, (select max(until_at) from endpoint_gaps where account_id = $1 and endpoint_id = $2)) as from_at
  from webhook_endpoints
  where account_id = $1 and id = $2 and status = 'disabled' and disabled_at is not null
  for update
), last as (
  select from_at, until_at, enabled_event_types,
    (select count(*) from endpoint_gaps where account_id = $1 and endpoint_id = $2) >= ${maxGaps} as is_full
  from endpoint_gaps
  where account_id = $1 and endpoint_id = $2
  order by from_at desc
  limit 1
), extended as (
  update endpoint_gaps gap
  set until_at = greatest(gap.until_at, $3),
    enabled_event_types = case
      when gap.enabled_event_types = endpoint.enabled_event_types then gap.enabled_event_types
      else array(select distinct unnest(gap.enabled_event_types || endpoint.enabled_event_types))
    end
  from endpoint
  cross join last
  where gap.account_id = $1 and gap.endpoint_id = $2 and gap.from_at = last.from_at
    and (last.is_full
      or last.enabled_event_types = endpoint.enabled_event_types and last.until_at > endpoint.from_at - interval '1 hour')
  returning 1
)
insert into endpoint_gaps (account_id, endpoint_id, from_at, until_at, enabled_event_types)
select account_id, id, from_at, greatest(from_at, $3), enabled_event_types
from endpoint
where not exists (select from extended)
on conflict do nothing`;

/** Deletes the gaps that ended by `until`; with `since`, those after it that the endpoint's current subscriptions cover. */
export const deleteGaps = run<[key: EndpointKey, since: Date | null, until: Date]>(
  'endpoint_delete_gaps',
  (key, since, until) => [key.accountUuid, key.endpointUuid, since, until],
)`
delete from endpoint_gaps gap
using webhook_endpoints e
where gap.account_id = $1 and gap.endpoint_id = $2 and e.account_id = $1 and e.id = $2
  and gap.until_at <= $4
  and ($3::timestamptz is null
    or gap.from_at > $3 and ('*' = any(e.enabled_event_types) or gap.enabled_event_types <@ e.enabled_event_types))`;

/** Forgets the part of a gap that is before `until`. Call it when those that ended by then are deleted. */
export const shortenGap = run<[key: EndpointKey, until: Date]>('endpoint_shorten_gap', (key, until) => [
  key.accountUuid,
  key.endpointUuid,
  until,
])`
update endpoint_gaps
set from_at = $3
where account_id = $1 and endpoint_id = $2 and from_at < $3`;
