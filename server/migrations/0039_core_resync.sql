-- Where a walk over all eSIMs is that calculates their state and sends it to the core again. At most one runs.
create table core_resync (
  is_only     boolean primary key default true check (is_only),
  started_at  timestamptz not null,
  -- The last eSIM that was queued.
  after_iccid text collate "C" not null default '',
  esims       bigint not null default 0,
  finished_at timestamptz
);

-- The first one calculates the state of the eSIMs that exist.
insert into core_resync (started_at) values (now());
