-- Personal data that is being removed, of an eSIM or of a whole account.
create table erasures (
  account_id   uuid not null references accounts,
  id           uuid not null,
  -- Null: the whole account.
  iccid        text collate "C",
  requested_at timestamptz not null,
  -- The step that goes on, and its place in its table. Null: the first one, and its start.
  step         text,
  after        text collate "C",
  finished_at  timestamptz,
  primary key (account_id, id)
);
create unique index erasures_by_target on erasures (account_id, coalesce(iccid, ''));
create index erasures_open on erasures (account_id, id) where finished_at is null;

-- From then on, nothing personal is written to the eSIM any more.
alter table esims add erased_at timestamptz;
