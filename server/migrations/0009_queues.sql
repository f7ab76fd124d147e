-- stop-older-processes: they would look for open work in the history tables.
-- Open work gets its own narrow tables. An execution or delivery is written to its history table once, when it ends.

-- Deliveries.

-- Pending deliveries. A sender leases the endpoint, so a claim writes nothing here: a delivery that succeeds at the first
-- attempt costs one insert and one delete. Failed attempts are in `delivery_attempts`.
create table delivery_queue (
  account_id    uuid not null,
  id            uuid not null,
  event_id      uuid not null,
  endpoint_id   uuid not null,
  origin        text not null check (origin in ('event', 'replay', 'recovery', 'retry')),
  attempt_count integer not null default 0,
  due_at        timestamptz not null default now(),
  created_at    timestamptz not null,
  primary key (account_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

-- Deliveries without an attempt are claimed and listed by id; retries are claimed by due time and listed by id. A delivery
-- that succeeds at the first attempt is never in the retry indexes.
create index delivery_queue_fresh on delivery_queue (endpoint_id, id) where attempt_count = 0;
create index delivery_queue_retries_due on delivery_queue (endpoint_id, due_at) where attempt_count > 0;
create index delivery_queue_retries on delivery_queue (endpoint_id, id) where attempt_count > 0;
-- Omits the account, so that the planner does not choose the primary key instead.
create index delivery_queue_by_event on delivery_queue (event_id);

-- Which process may send to an endpoint, and until when. Each new holder gets a new fence.
create table endpoint_leases (
  endpoint_id  uuid primary key,
  account_id   uuid not null,
  holder       uuid not null,
  fence        bigint not null,
  leased_until timestamptz not null
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

create sequence endpoint_lease_fences;

-- The last attempt of an ended delivery, made at `finished_at`. Earlier attempts are in `delivery_attempts`, which has all
-- attempts of deliveries that were canceled or that an earlier release ended.
alter table deliveries
  add column duration_ms integer,
  add column status_code integer,
  add column error text,
  add column response_excerpt text;

-- Executions.
create table execution_queue (
  account_id   uuid not null,
  id           uuid not null,
  type         text not null,
  product_id   text,
  iccid        text collate "C",
  input        jsonb not null,
  -- The result of each network step. The next worker resumes from it.
  progress     jsonb not null default '{}',
  -- 0 is shown as queued, any other number as running.
  attempts     integer not null default 0,
  -- Incremented by every claim, so a worker whose lease expired cannot settle an execution that another worker claimed.
  fence        integer not null default 0,
  -- Network reports about its eSIM, which gets a row in `esims` when the order ends.
  observed     jsonb,
  -- The eSIM was terminated: the order can only be rolled back.
  is_terminated boolean not null default false,
  -- The earliest time of the next attempt. A claim does not change it.
  due_at       timestamptz not null default now(),
  -- Set while a worker holds it. Not indexed, so that a claim is a HOT update.
  leased_until timestamptz,
  created_at   timestamptz not null,
  primary key (account_id, id)
) with (
  -- Leaves room in each page for a claimed version of every row.
  fillfactor = 50,
  -- Rows live for milliseconds, so vacuum runs early and without pauses.
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 10000
);

create index execution_queue_due on execution_queue (due_at);
-- Lists of running executions and of eSIMs being provisioned must not read an account's whole backlog.
create index execution_queue_claimed on execution_queue (account_id, id) where fence > 0;
-- Finds the open order of an eSIM.
create unique index execution_queue_esim on execution_queue (iccid) where type = 'esim.provision' and iccid is not null;
-- Finds an open change of an eSIM.
create index execution_queue_change on execution_queue (iccid) where type <> 'esim.provision';
