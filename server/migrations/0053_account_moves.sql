-- Accounts on their way from one cell to another (docs/cells.md).
create table account_moves (
  account_id uuid primary key,
  -- copying: it works here while its rows are copied. frozen: nothing of it changes here. moved: it is in the other cell.
  -- arriving: its rows come from the other cell, and nothing here may touch them.
  state      text not null check (state in ('copying', 'frozen', 'moved', 'arriving')),
  -- The other cell's label; null if it has none.
  cell       text,
  changed_at timestamptz not null default now()
);

-- Fires only for rows of an account that is frozen: triggers for it exist as long as that. The state makes clients retry, and makes
-- statements that write for many accounts write for each of them alone.
create function refuse_while_frozen() returns trigger language plpgsql as $$
begin
  raise exception 'the account is being moved to another cell' using errcode = 'serialization_failure';
end
$$;

-- Replication to the other cell is by account. Null in rows from before, which a move fills in.
alter table usage_records add account_id uuid;
alter table usage_days add account_id uuid;
