-- Endpoints with `ordering: esim`: the events of an eSIM are sent one after the other, in the order of the feed.

alter table webhook_endpoints
  add column ordering text not null default 'none' check (ordering in ('none', 'esim'));

-- For the sequencer: whether an account has such endpoints.
create index webhook_endpoints_ordered on webhook_endpoints (account_id) where ordering <> 'none';

-- Set on a delivery whose successors wait for it: the ICCID. At most one per endpoint and eSIM is in the queue.
alter table delivery_queue add column order_key text collate "C";
create unique index delivery_queue_in_order on delivery_queue (endpoint_id, order_key) where order_key is not null;

-- Deliveries that wait for an earlier one of the same endpoint and eSIM, or for their event's position. The first of each eSIM moves to
-- `delivery_queue` when none is there, so senders never see those that wait.
create table blocked_deliveries (
  account_id  uuid not null,
  id          uuid not null,
  event_id    uuid not null,
  endpoint_id uuid not null,
  origin      text not null check (origin in ('event', 'recovery')),
  order_key   text collate "C" not null,
  -- The event's position in the feed. Null until it has one.
  position    bigint,
  created_at  timestamptz not null,
  primary key (account_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

create index blocked_deliveries_in_order on blocked_deliveries (endpoint_id, order_key, position);
create index blocked_deliveries_by_event on blocked_deliveries (event_id);
create index blocked_deliveries_by_endpoint on blocked_deliveries (endpoint_id, id);
create index blocked_deliveries_unsequenced on blocked_deliveries (event_id) where position is null;
