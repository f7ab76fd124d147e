-- stop-older-processes: it drops the columns that their queues were made of.

-- Deliveries.
drop index deliveries_pending;

alter table deliveries
  drop column due_at,
  drop column leased_until,
  drop column fence,
  drop constraint deliveries_status_check,
  add constraint deliveries_status_check check (status in ('succeeded', 'failed', 'canceled')),
  -- Rows are written once: no page needs room for a second version.
  reset (fillfactor);

-- Executions.
drop index executions_due;
drop index executions_open_by_iccid;
drop index executions_unsettled;

-- The filter by status: nearly every row has succeeded, and the primary key finds those at once; the failed ones are few.
create index executions_failed on executions (account_id, id) where status = 'failed';

alter table executions
  drop column due_at,
  drop column fence,
  drop constraint executions_status_check,
  add constraint executions_status_check check (status in ('succeeded', 'failed'));
