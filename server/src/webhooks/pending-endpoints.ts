/**
 * Every endpoint that has something pending, as the CTE `pending (endpoint_id)` of a `with recursive`, found by skipping from one
 * to the next in the index: what it costs depends on how many endpoints there are, not on how much is pending.
 */
export const pendingEndpoints = `pending as (
  (select endpoint_id from deliveries where status = 'pending' order by endpoint_id limit 1)
  union all
  select (select d.endpoint_id from deliveries d where d.status = 'pending' and d.endpoint_id > pending.endpoint_id
          order by d.endpoint_id limit 1)
  from pending where pending.endpoint_id is not null
)`;
