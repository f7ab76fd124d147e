-- stop-older-processes: they would not see what has moved.
-- in-batches: select count(*) as count from executions where status in ('queued', 'running')

-- Deliveries.

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
