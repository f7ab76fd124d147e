/** The event `given` is neither delivered to the endpoint `$2` of the account `$1` nor pending for it. */
export const isMissed = `not exists (
    select from (
      select account_id, endpoint_id from delivery_queue where event_id = given.event_id
      union all
      select account_id, endpoint_id from blocked_deliveries where event_id = given.event_id
      offset 0) pending
    where pending.account_id = $1 and pending.endpoint_id = $2
  ) and not exists (
    select from (
      select endpoint_id, status from deliveries where account_id = $1 and event_id = given.event_id offset 0) ended
    where ended.endpoint_id = $2 and ended.status = 'succeeded'
  )`;
