-- Why the last attempt failed, in the words that the endpoint's owner reads. Null while the endpoint is not failing.
alter table webhook_endpoints add column last_error text;

-- The last event about the endpoint's health. Null: none, or `recovered` was written.
--   failing    `failing` or `disabled` was written, and no delivery has succeeded since
--   enabled    the same, and then its owner enabled it
--   recovered  a delivery has succeeded since; `recovered` is to be written
alter table webhook_endpoints
  add column reported_health text check (reported_health in ('failing', 'enabled', 'recovered'));

-- The endpoints about which an event may have to be written; the others are not in it.
create index webhook_endpoints_to_report on webhook_endpoints (account_id, id)
  where reported_health = 'recovered'
    or failing_since is not null and (reported_health is null or reported_health = 'enabled');

-- What a recovery shows. A recovery that an earlier release ran counts nothing.
alter table recoveries
  add column checked_count integer not null default 0,
  add column queued_count integer not null default 0,
  add column is_canceled boolean not null default false;

create index recoveries_by_endpoint on recoveries (account_id, endpoint_id, id);
