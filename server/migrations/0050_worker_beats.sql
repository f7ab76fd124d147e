-- The workers that may hold leases. Each writes a beat every second; the others end the leases of one whose beat has stopped.
create table workers (
  id      uuid primary key,
  beat_at timestamptz not null
) with (
  -- Room for updates within the page.
  fillfactor = 50
);

-- The worker that has the lease; null if a process of an older release has it, whose lease only expires.
alter table execution_queue add column holder uuid;
alter table core_queue add column holder uuid;
