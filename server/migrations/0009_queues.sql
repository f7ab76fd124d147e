-- stop-older-processes: they would look for open work in the tables of its history.
-- Open work gets narrow tables of its own. Executions and deliveries are written to their history once, when they end.

-- Deliveries.

-- Deliveries that are still to be sent. A sender leases the endpoint, so a claim writes nothing here: a delivery that succeeds at
-- once is one insert and one delete. `delivery_attempts` has its failed attempts.
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

-- Deliveries without an attempt are claimed and listed by id; the others are claimed by due time and listed by id. A delivery
-- that succeeds at once is never in the indexes of the others.
create index delivery_queue_fresh on delivery_queue (endpoint_id, id) where attempt_count = 0;
create index delivery_queue_retries_due on delivery_queue (endpoint_id, due_at) where attempt_count > 0;
create index delivery_queue_retries on delivery_queue (endpoint_id, id) where attempt_count > 0;
-- Without the account, so that no plan can take it for the primary key.
create index delivery_queue_by_event on delivery_queue (event_id);

-- Which process may send to an endpoint, and until when. The fence is new whenever the holder changes.
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

-- The last attempt of an ended delivery, made at `finished_at`. `delivery_attempts` has those before it; of deliveries that were
-- canceled, or ended by an earlier release, it has all.
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
  -- What each network step returned, where the next worker goes on.
  progress     jsonb not null default '{}',
  -- 0 is shown as queued, more as running.
  attempts     integer not null default 0,
  -- Raised at every claim: a worker whose lease ran out cannot settle what another has taken over.
  fence        integer not null default 0,
  -- What networks have reported of its eSIM, until that has a row of its own when the order ends.
  observed     jsonb,
  -- Its eSIM was terminated: the order can only be rolled back.
  is_terminated boolean not null default false,
  -- When it may be attempted next. It does not move with a claim.
  due_at       timestamptz not null default now(),
  -- While a worker has it. Without an index, so that a claim is an update within the page.
  leased_until timestamptz,
  created_at   timestamptz not null,
  primary key (account_id, id)
) with (
  -- Room in a page for a claimed version of every row in it.
  fillfactor = 50,
  -- A row lives for milliseconds: what it leaves behind is removed early and at once.
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
-- The eSIM of an order that is open.
create unique index execution_queue_esim on execution_queue (iccid) where type = 'esim.provision' and iccid is not null;
-- Whether another change of an eSIM is open.
create index execution_queue_change on execution_queue (iccid) where type <> 'esim.provision';
