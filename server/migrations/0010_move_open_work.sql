-- stop-older-processes: they would not see the moved rows.
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
-- No process holds a claim now. A postponed execution, which still has the fence of its last claim, keeps its due time.
-- An eSIM being provisioned moves with its order. No join: each batch would scan all rows that have not moved yet.
with open as materialized (
  select x.*, e.place as esim_place, e.status as esim_status, e.observed
  from (
    select ctid as place, *
    from executions
    where status in ('queued', 'running')
    order by due_at
    limit 10000
  ) x
  left join lateral (
    select
      ctid as place,
      status,
      jsonb_strip_nulls(jsonb_build_object(
        'profile_state', nullif(profile_state, 'unknown'),
        'profile_observed_at', profile_observed_at,
        'eid', eid,
        'country', country,
        'country_observed_at', country_observed_at)) as observed
    from esims
    where esims.iccid = x.iccid and esims.execution_id = x.id and x.type = 'esim.provision'
    offset 0
  ) e on true
), ended as (
  delete from executions
  where ctid = any(array(select place from open))
), unfinished as (
  delete from esims
  where ctid = any(array(select esim_place from open where esim_status = 'provisioning'))
)
insert into execution_queue (account_id, id, type, product_id, iccid, input, progress, attempts, fence, observed, is_terminated,
  due_at, created_at)
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
  nullif(observed, '{}'),
  coalesce(esim_status = 'terminated', false),
  case
    when status = 'running' and (progress ->> 'postponed_fence')::integer is distinct from fence then least(due_at, now())
    else due_at
  end,
  created_at
from open;
