/**
 * The CTEs `fresh` and `retries (account_id, endpoint_id)` for a `with recursive`: the endpoints with queued deliveries that have
 * no attempt, and with retries. The last row of each is null. Both are skip scans over an index: the cost grows with the number
 * of endpoints, not of deliveries.
 */
export const queuedEndpoints = `${skipScan('fresh', 'attempt_count = 0')}, ${skipScan('retries', 'attempt_count > 0')}`;

function skipScan(name: string, condition: string): string {
  return `${name} as (
  (select account_id, endpoint_id
    from delivery_queue
    where ${condition}
    order by endpoint_id
    limit 1)
  union all
  select next.account_id, next.endpoint_id
  from ${name}
  left join lateral (
    select q.account_id, q.endpoint_id
    from delivery_queue q
    where q.endpoint_id > ${name}.endpoint_id and ${condition.replace('attempt_count', 'q.attempt_count')}
    order by q.endpoint_id
    limit 1) next on true
  where ${name}.endpoint_id is not null
)`;
}
