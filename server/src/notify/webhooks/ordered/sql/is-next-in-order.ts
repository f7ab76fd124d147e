import { positionOfEvent } from '../../position-of-event.ts';

/**
 * Whether the first blocked delivery of a key (`account_id`, `endpoint_id`, `order_key`) may be sent. It overtakes none: an earlier
 * event's delivery and position commit no later than its own position. So a statement that sees the latter sees every earlier
 * delivery: ended, in the queue, with a lower stored position and so the first itself, or `unplaced`.
 */
export function isNextInOrder(key: string): string {
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
