-- Accounts that were closed. A column of its own, not a status: processes of the last release know two.
alter table accounts add closed_at timestamptz;

-- What is left to do after an account was closed.
create table account_closings (
  account_id      uuid primary key references accounts,
  terminate_esims boolean not null,
  -- Terminations ordered so far.
  terminations    integer not null default 0,
  -- The last eSIM that was looked at. Null: the open orders end first.
  after_id        uuid,
  finished_at     timestamptz
);
create index account_closings_open on account_closings (account_id) where finished_at is null;
