-- stop-older-processes: they would look for open work in the tables of its history.
-- Open work gets narrow tables of its own. Executions and deliveries are written to their history once, when they end.

-- Deliveries.

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
create index execution_queue_by_iccid on execution_queue (iccid) where iccid is not null;
