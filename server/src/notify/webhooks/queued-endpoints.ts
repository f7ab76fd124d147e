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
