-- What happens to an eSIM whose data is used up. Null: it is barred.
alter table products
  add column after_depletion jsonb;

-- Copied when the bundle is sold, like its countries.
alter table bundles
  add column after_depletion jsonb;

alter table esims
  -- What the network should let the eSIM do: state, reason, kbps, bundle_id, until. Null until it is calculated for the first time.
  add column service jsonb,
  -- Raised by every change of `service`.
  add column service_version integer not null default 0,
  add column service_changed_at timestamptz,
  -- When the state of a depleted bundle ends. Null for all others: no active bundle expires unnoticed.
  add column service_ends_at timestamptz,
  -- What the operator's core has confirmed.
  add column applied_version integer,
  add column applied_at timestamptz,
  -- The change that `service` includes and `status` does not, until the core has it: change, execution_id, version.
  add column pending_change jsonb;

-- The newest state of each eSIM that the operator's core has not confirmed: one row per eSIM, however often it changes.
create table core_queue (
  account_id   uuid not null,
  iccid        text collate "C" not null,
  -- Kept while the eSIM waits, so that lists have a stable order.
  id           uuid not null,
  version      integer not null,
  -- That version of the eSIM's service: what is sent.
  service      jsonb not null,
  -- Since when the core is behind.
  since        timestamptz not null,
  due_at       timestamptz not null,
  -- Set while a worker sends it. Not indexed, so that a claim is a HOT update.
  leased_until timestamptz,
  failures     integer not null default 0,
  -- Why the last attempt failed, or why the core refused it.
  error        jsonb,
  is_refused   boolean not null default false,
  primary key (account_id, iccid)
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0,
  autovacuum_analyze_threshold = 10000
);

-- Accounts take turns, so a claim looks for the first due rows of each.
create index core_queue_due on core_queue (account_id, due_at) where not is_refused;
create index core_queue_by_id on core_queue (is_refused, id);
