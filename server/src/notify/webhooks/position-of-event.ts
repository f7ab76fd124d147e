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
