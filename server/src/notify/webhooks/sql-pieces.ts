/**
 * Selects `list`: the secrets of the endpoint `e` that sign at `now`, each `<id>:<sealed>`, newest first, separated by spaces; and
 * `until`, when the first of them ends, or null.
 */
export function liveSecrets(now: string): string {
  return `
    select coalesce(string_agg(s.id || ':' || s.sealed, ' ' order by coalesce(s.expires_at, 'infinity') desc, s.id desc), '') as list,
      min(s.expires_at) as until
    from webhook_secrets s
    where s.account_id = e.account_id and s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > ${now})`;
}

/**
 * The CTEs `fresh` and `retries (account_id, endpoint_id)` for a `with recursive`: the endpoints with queued deliveries that have
 * no attempt, and with retries. The last row of each is null. Both are skip scans over an index: the cost grows with the number
 * of endpoints, not of deliveries.
 */
export const queuedEndpoints = `${skipScan('fresh', 'delivery_queue', 'q.attempt_count = 0')}, ${skipScan('retries', 'delivery_queue', 'q.attempt_count > 0')}`;

/** The CTE `blocked`: likewise, the endpoints with blocked deliveries. */
export const blockedEndpoints = skipScan('blocked', 'blocked_deliveries', 'true');

function skipScan(name: string, table: string, condition: string): string {
  return `${name} as (
  (select q.account_id, q.endpoint_id
    from ${table} q
    where ${condition}
    order by q.endpoint_id
    limit 1)
  union all
  select next.account_id, next.endpoint_id
  from ${name}
  left join lateral (
    select q.account_id, q.endpoint_id
    from ${table} q
    where q.endpoint_id > ${name}.endpoint_id and ${condition}
    order by q.endpoint_id
    limit 1) next on true
  where ${name}.endpoint_id is not null
)`;
}

/**
 * The position of an event in its account's feed, or null if it has none yet: a scalar subquery. `newest_id` never decreases, so
 * the search starts at the first run that can have the event. That is usually its run; an event that was committed late is in one
 * of the next. The comparison with `oldest_id` only saves reading the arrays; as a plain condition it would suggest another index.
 */
export function positionOfEvent(accountId: string, eventId: string): string {
  return `(
    select run.first_position + array_position(run.event_ids, ${eventId}) - 1
    from event_feed run
    where run.account_id = ${accountId} and run.newest_id >= ${eventId} and (run.oldest_id <= ${eventId}) is true
      and ${eventId} = any(run.event_ids)
    order by run.newest_id
    limit 1)`;
}

/**
 * A position for an event that the feed has forgotten and the log still has, because a delivery of it is pending: below all others,
 * by the millisecond in its id. Null for other events.
 */
export function positionOfExpired(accountId: string, eventId: string): string {
  return `(
    select ('x' || translate(left(${eventId}::text, 13), '-', ''))::bit(48)::bigint - 281474976710656
    from event_feed_heads head
    where head.account_id = ${accountId} and head.expired_through > 0 and ${eventId} <= (
      select oldest.newest_id
      from event_feed oldest
      where oldest.account_id = ${accountId}
      order by oldest.first_position
      limit 1))`;
}

export type AboutEndpoint = { body_about_endpoint: string | null };

/** Selects what `endpointIdOf` needs; the bodies of other events are not read. */
export const bodyAboutEndpoint = `case when type like 'webhook\\_endpoint.%' then body end as body_about_endpoint`;

/** The id of the endpoint that an event is about, which must not get it; null if there is none. */
export function endpointIdOf({ body_about_endpoint: body }: AboutEndpoint): string | null {
  // The data of a test event can be anything.
  const id: unknown = body === null ? null : JSON.parse(body).data?.webhook_endpoint_id;
  return typeof id === 'string' ? id : null;
}

/**
 * SQL: the CTE `superseded`, which marks earlier deliveries that did not reach the endpoints of `queued`. One that another transaction
 * holds is left: readers compare with what arrived, the mark only saves them from reading it.
 */
export function supersede(queued: string): string {
  return `superseded as (
  update deliveries
  set is_superseded = true
  where ctid = any(array(
    select d.ctid
    from ${queued} queued
    cross join lateral (
      select ctid, endpoint_id
      from deliveries
      where account_id = queued.account_id and event_id = queued.event_id
        and status in ('failed', 'canceled') and not is_superseded
      for update skip locked) d
    where d.endpoint_id = queued.endpoint_id))
)`;
}
