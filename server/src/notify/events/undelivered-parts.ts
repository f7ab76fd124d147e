import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import { beforeFirst } from '../../platform/lists/keyset.ts';

/*
 * An event is undelivered at an endpoint if the endpoint was subscribed when the event happened, has not received it, and no delivery
 * of it is pending. Either a delivery of it failed or was canceled, or the event happened while the endpoint was disabled.
 *
 * In all of these, `e` is a row of `webhook_endpoints`.
 */

type Event = { account: string; id: string };

/** SQL: no delivery of the event to the endpoint is pending. The account is compared outside: inside, a plan may read its whole queue. */
function isNotPending(e: { account: string; id: string }, event: string): string {
  return `not exists (
    select from (
      select account_id, endpoint_id from delivery_queue where event_id = ${event}
      union all
      select account_id, endpoint_id from blocked_deliveries where event_id = ${event}
      offset 0) pending
    where pending.account_id = ${e.account} and pending.endpoint_id = ${e.id})`;
}

/** SQL: the event has an ended delivery to the endpoint, of these statuses if given. */
function hasEnded(e: { id: string }, { account, id }: Event, statuses: string[] = []): string {
  const ofStatus = statuses.map((status) => `'${status}'`).join(', ');
  return `exists (
    select from (
      select endpoint_id, status from deliveries where account_id = ${account} and event_id = ${id} offset 0) ended
    where ended.endpoint_id = ${e.id}${ofStatus && ` and ended.status in (${ofStatus})`})`;
}

/** SQL: the event has neither reached the endpoint nor is it pending for it. */
export function isMissed(e: { account: string; id: string }, event: string): string {
  const ended = hasEnded(e, { account: e.account, id: event }, ['succeeded']);
  return `${isNotPending(e, event)} and not ${ended}`;
}

/** SQL: one of the subscriptions is to this type. */
export function subscribes(types: string, type: string): string {
  return `(${types} && array['*', ${type}] or exists (
      select from unnest(${types}) as family
      where right(family, 2) = '.*' and starts_with(${type}, left(family, -1))))`;
}

// An event's id is made before its statement sees the endpoint, by another machine's clock. Events with a delivery do not count, so
// a gap may be too wide.
const margin = `interval '1 minute'`;

/** SQL: the times in which the endpoint was disabled, as ranges of event ids: from_event, until_event and its subscriptions. */
function gapsOf(e: string): string {
  const own = `gap.account_id = ${e}.account_id and gap.endpoint_id = ${e}.id`;
  return `(
        select uuid_v7(gap.from_at - ${margin}) as from_event, uuid_v7(gap.until_at + ${margin}) as until_event,
          gap.enabled_event_types as types
        from endpoint_gaps gap
        where ${own}
        union all
        select uuid_v7(greatest(${e}.disabled_at, (select max(gap.until_at) from endpoint_gaps gap where ${own})) - ${margin}),
          '${beforeFirst}', ${e}.enabled_event_types
        where ${e}.status = 'disabled' and ${e}.disabled_at is not null)`;
}

/** SQL: the event is about the endpoint itself, which is not told of it. */
function isAbout(e: string, event: string): string {
  return `(${event}.type like 'webhook\\_endpoint.%'
            and ${event}.body::json #>> '{data,webhook_endpoint_id}' = public_id('we', ${e}.id))`;
}

/** SQL: the endpoint should have got the event: it had a delivery that ended, or the endpoint was subscribed and disabled. */
export function wasExpectedAt(e: string, event: string): string {
  const failed = hasEnded({ id: `${e}.id` }, { account: `${event}.account_id`, id: `${event}.id` }, [
    'failed',
    'canceled',
  ]);
  return `(${failed} or (
    exists (
      select from ${gapsOf(e)} gap
      where ${event}.id >= gap.from_event and ${event}.id < gap.until_event and ${subscribes('gap.types', `${event}.type`)})
    and not ${isAbout(e, event)}))`;
}

/** SQL: the event, a row of `events`, is undelivered at an endpoint of its account. */
export function isUndelivered(event: string): string {
  return `exists (
    select from webhook_endpoints e
    where e.account_id = ${event}.account_id and ${isMissed({ account: 'e.account_id', id: 'e.id' }, `${event}.id`)}
      and ${wasExpectedAt('e', event)})`;
}

type Part = {
  /** How many at most, as SQL. */
  limit: string;
  order: 'asc' | 'desc';
  /** Bounds of the events' ids, as SQL. */
  from?: string;
  until?: string;
  /** SQL: whether a type is wanted. */
  isWanted?(type: string): string;
};

// The skip from type to type costs 10 µs each; a sandbox may have any number of them.
const maxTypes = 1_000;

/** SQL: the CTE `kinds`, which skips from type to type of the account's events; the last one is null. */
function kindsOf(account: string): string {
  return `kinds as (
          (select type from events where account_id = ${account} order by type limit 1)
          union all
          select (
            select next.type
            from events next
            where next.account_id = ${account} and next.type > kinds.type
            order by next.type
            limit 1)
          from kinds
          where kinds.type is not null
        )`;
}

/** SQL: the undelivered events of an endpoint (id, type), those with the lowest or highest ids. Read from indexes. */
export function undeliveredOf(e: string, part: Part): string {
  const {
    limit,
    order,
    from = `'${lowestUuid}'`,
    until = `'${beforeFirst}'`,
    isWanted = () => 'true',
  } = part;
  const own = { account: `${e}.account_id`, id: `${e}.id` };
  const event = { account: own.account, id: 'event.id' };
  return `(
  select distinct id, type
  from (
    -- Those with a delivery that ended without success.
    (select ended.event_id as id, event.type
      from (
        select distinct d.event_id, coalesce(d.event_account_id, d.account_id) as account_id
        from deliveries d
        where d.account_id = ${own.account} and d.endpoint_id = ${own.id}
          and d.status in ('failed', 'canceled') and not d.is_superseded
          and d.event_id >= ${from} and d.event_id < ${until}
        order by d.event_id ${order}) ended
      cross join lateral (
        select type from events where account_id = ended.account_id and id = ended.event_id offset 0) event
      where ${isWanted('event.type')} and ${isMissed(own, 'ended.event_id')}
      order by ended.event_id ${order}
      limit ${limit})
    union all
    -- Those that were not sent because it was disabled.
    (select missed.id, missed.type
      from ${gapsOf(e)} gap
      cross join lateral (
        with recursive ${kindsOf(own.account)}
        select one.id, one.type
        from (select type from kinds where type is not null limit ${maxTypes}) kind
        cross join lateral (
          select event.id, event.type
          from events event
          where event.account_id = ${own.account}
            and (event.type, event.id) >= (kind.type, greatest(gap.from_event, ${from}))
            and (event.type, event.id) < (kind.type, least(gap.until_event, ${until}))
            and ${isNotPending(own, 'event.id')} and not ${hasEnded(own, event)} and not ${isAbout(e, 'event')}
          order by event.type ${order}, event.id ${order}
          limit ${limit}) one
        where ${subscribes('gap.types', 'kind.type')} and ${isWanted('kind.type')}
      ) missed
      order by missed.id ${order}
      limit ${limit})
  ) found
  order by id ${order}
  limit ${limit})`;
}

/** SQL: the millisecond that an id, given as text, starts with. */
export function msOfId(text: string): string {
  return `('x' || left(replace(${text}, '-', ''), 12))::bit(48)::bigint`;
}
