-- Executions become their own queue. `due_at` says when somebody should look at the row next: now for a new order, later
-- for a retry, and the end of the lease while a worker has it. One column, so a dead worker's row comes due by itself.
alter table executions
  add column due_at timestamptz not null default now(),
  -- Raised at every claim: a worker whose lease ran out cannot settle what another has taken over.
  add column fence integer not null default 0,
  -- What each network step returned: where the next worker goes on.
  add column progress jsonb not null default '{}';

create index executions_due on executions (due_at) where status in ('queued', 'running');

-- Each value is a block of 1,000 serial numbers for one process to allot ICCIDs from. Gaps are fine, repeats are not.
create sequence iccid_blocks minvalue 0 start 0;

create table esims (
  account_id                 uuid not null,
  -- Sorts the list; the ICCID is what the world knows.
  id                         uuid not null,
  iccid                      text collate "C" not null unique,
  execution_id               uuid not null,
  product_id                 text not null,
  status                     text not null
    check (status in ('provisioning', 'provisioned', 'active', 'suspended', 'terminated', 'failed')),
  -- What a suspended eSIM goes back to.
  resumes_to                 text check (resumes_to in ('provisioned', 'active')),
  profile_state              text not null default 'unknown',
  profile_observed_at        timestamptz,
  country                    text,
  country_observed_at        timestamptz,
  eid                        text,
  metadata                   jsonb not null,
  description                text,
  smdp_address               text,
  matching_id                text,
  confirmation_code_required boolean not null default false,
  created_at                 timestamptz not null,
  provisioned_at             timestamptz,
  primary key (account_id, id)
);

create index esims_by_status on esims (account_id, status, id);
create index esims_by_product on esims (account_id, product_id, id);

create table bundles (
  account_id    uuid not null,
  id            uuid not null,
  iccid         text collate "C" not null,
  product_id    text not null,
  status        text not null check (status in ('queued', 'active', 'depleted', 'expired', 'canceled')),
  data_bytes    bigint,
  used_bytes    bigint not null default 0,
  thresholds    integer[] not null,
  validity_days integer not null,
  activated_at  timestamptz,
  expires_at    timestamptz,
  as_of         timestamptz,
  created_at    timestamptz not null,
  primary key (account_id, id)
);

create index bundles_by_esim on bundles (iccid, id);
create index bundles_by_expiry on bundles (expires_at) where status = 'active';

-- A usage record is counted when its row is new.
create table usage_records (
  iccid       text collate "C" not null,
  record_id   text collate "C" not null,
  bytes       bigint not null check (bytes > 0),
  observed_at timestamptz not null,
  primary key (iccid, record_id)
);

-- The log. `body` is the event as the bytes that are sent, never rendered again.
create table events (
  account_id uuid not null,
  id         uuid not null,
  type       text collate "C" not null,
  created_at timestamptz not null,
  body       text not null,
  primary key (account_id, id)
);

create index events_by_type on events (account_id, type, id);
