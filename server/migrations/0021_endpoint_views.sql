-- Looking up endpoints: their health across accounts, single attempts, and statistics per hour.

-- An ended delivery is in one index by endpoint, by its status; before, failed and canceled ones were in two. So a page of one status
-- never reads the others, and a delivery that succeeds still costs one entry.
create index deliveries_succeeded on deliveries (account_id, endpoint_id, id) where status = 'succeeded';
drop index deliveries_by_endpoint;

-- Those with attempts in `delivery_attempts` that the status does not tell. A delivery that succeeds at the first attempt is in neither.
create index deliveries_retried on deliveries (account_id, endpoint_id, id) where status = 'succeeded' and attempt_count > 1;
create index deliveries_tried on deliveries (account_id, endpoint_id, id) where status = 'canceled' and attempt_count > 0;

-- For the operator's list over all accounts. Their columns change rarely.
create index webhook_endpoints_newest on webhook_endpoints (id);
create index webhook_endpoints_failing on webhook_endpoints (id) where failing_since is not null;
create index webhook_endpoints_disabled on webhook_endpoints (id) where status = 'disabled';

-- The attempts of an endpoint in one hour. Senders add to it every few seconds.
create table endpoint_hours (
  account_id      uuid not null,
  endpoint_id     uuid not null,
  hour            timestamptz not null,
  succeeded_count bigint not null,
  failed_count    bigint not null,
  -- Attempts per range of durations: server/src/webhooks/stats/histogram.ts.
  duration_counts bigint[] not null,
  primary key (account_id, endpoint_id, hour)
) with (
  -- Room for updates within the page.
  fillfactor = 50
);

-- For their removal.
create index endpoint_hours_by_hour on endpoint_hours (hour);
