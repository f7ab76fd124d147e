/** A subquery with every delivery, queued, blocked or ended; a queued one has its endpoint's lease. */
export const allDeliveries = `(
  select q.account_id, q.id, q.event_id, q.endpoint_id, 'pending' as status, q.origin, q.attempt_count, q.due_at,
    null::timestamptz as finished_at, l.leased_until, l.fence
  from delivery_queue q
  left join endpoint_leases l on l.endpoint_id = q.endpoint_id
  union all
  select account_id, id, event_id, endpoint_id, 'pending', origin, 0, null, null, null, null
  from blocked_deliveries
  union all
  select account_id, id, event_id, endpoint_id, status, origin, attempt_count, null, finished_at, null, null
  from deliveries)`;

/** A subquery with every attempt, stored in its own row or with its delivery. */
export const allAttempts = `(
  select account_id, delivery_id, number, at, duration_ms, status_code, error, response_excerpt
  from delivery_attempts
  union all
  select account_id, id, attempt_count, finished_at, duration_ms, status_code, error, response_excerpt
  from deliveries
  where duration_ms is not null)`;
