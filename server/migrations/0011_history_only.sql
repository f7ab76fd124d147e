-- stop-older-processes: this drops the columns of their queues.

-- Deliveries.
drop index deliveries_pending;

alter table deliveries
  drop column due_at,
  drop column leased_until,
  drop column fence,
  drop constraint deliveries_status_check,
  add constraint deliveries_status_check check (status in ('succeeded', 'failed', 'canceled')),
  -- Rows are written once, so pages need no room for updates.
  reset (fillfactor);

-- Executions.
drop index executions_due;
drop index executions_open_by_iccid;
drop index executions_unsettled;

-- For the status filter. Nearly all executions succeed, so the primary key finds those quickly; failed ones are rare.
create index executions_failed on executions (account_id, id) where status = 'failed';

alter table executions
  drop column due_at,
  drop column fence,
  drop constraint executions_status_check,
  add constraint executions_status_check check (status in ('succeeded', 'failed'));
