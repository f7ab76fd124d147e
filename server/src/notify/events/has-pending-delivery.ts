/**
 * SQL: whether a delivery of the row of `events` is pending. The account is compared outside the subquery. Inside, a plan may read the
 * account's whole queue for each event.
 */
export const hasPendingDelivery = `exists (
    select from (
      select account_id from delivery_queue where event_id = events.id
      union all
      select account_id from blocked_deliveries where event_id = events.id
      offset 0) pending
    where pending.account_id = events.account_id)`;
