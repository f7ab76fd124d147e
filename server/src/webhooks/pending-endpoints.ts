/**
 * The CTE `pending (endpoint_id)` for a `with recursive`: every endpoint with pending deliveries. It is a skip scan over the
 * index, so its cost grows with the number of endpoints, not of deliveries.
 */
export const pendingEndpoints = `pending as (
  (select endpoint_id from deliveries where status = 'pending' order by endpoint_id limit 1)
  union all
  select (select d.endpoint_id from deliveries d where d.status = 'pending' and d.endpoint_id > pending.endpoint_id
          order by d.endpoint_id limit 1)
  from pending where pending.endpoint_id is not null
)`;
