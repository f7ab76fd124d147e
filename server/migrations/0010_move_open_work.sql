-- stop-older-processes: they would not see what has moved.
-- in-batches: select (select count(*) from deliveries where status = 'pending') + (select count(*) from executions where status in ('queued', 'running')) as count

-- Deliveries.
with moved as (
  delete from deliveries
  where ctid = any(array(
    select ctid
    from deliveries
    where status = 'pending'
    limit 10000))
  returning account_id, id, event_id, endpoint_id, origin, attempt_count, due_at, created_at
)
insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, attempt_count, due_at, created_at)
select account_id, id, event_id, endpoint_id, origin, attempt_count, due_at, created_at
from moved;

-- Executions.
-- A claim ended with its process. What waits for its next attempt (postponed under the fence that it still has) keeps its pause.
with moved as (
  delete from executions
  where ctid = any(array(
    select ctid
    from executions
    where status in ('queued', 'running')
    order by due_at
    limit 10000))
  returning account_id, id, type, status, product_id, iccid, input, progress, attempts, fence, due_at, created_at
)
insert into execution_queue (account_id, id, type, product_id, iccid, input, progress, attempts, fence, due_at, created_at)
select
  account_id,
  id,
  type,
  product_id,
  iccid,
  input,
  progress - 'postponed_fence',
  attempts,
  fence,
  case
    when status = 'running' and (progress ->> 'postponed_fence')::integer is distinct from fence then least(due_at, now())
    else due_at
  end,
  created_at
from moved;
