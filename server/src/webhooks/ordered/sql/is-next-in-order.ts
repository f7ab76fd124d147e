import { positionOfEvent } from '../../position-of-event.ts';

/**
 * Whether the first blocked delivery of a key may be sent. `key` has the columns `account_id`, `endpoint_id` and `order_key`.
 *
 * No delivery overtakes one with a lower position. Say B is the first with a stored position, and A comes before it in the feed. A's
 * position was committed before B's or with it, and A's delivery before that. So a statement that sees B's stored position sees
 * what has become of A: it has ended, or is in the queue, or has a stored position and is first itself, or has none stored yet.
 * The last is what `unplaced` finds.
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
