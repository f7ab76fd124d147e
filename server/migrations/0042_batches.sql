-- Orders that were accepted together. Each is an execution, which has the batch's id in `input`, as it has its reference: accepting an
-- order writes no other column, and a worker of the previous release keeps it when the order ends.
create table batches (
  account_id uuid not null references accounts,
  id uuid not null,
  -- Null if the orders have several.
  product_id text,
  total integer not null check (total > 0),
  created_at timestamptz not null,
  -- When no order was open any more, and `batch.finished` was written.
  finished_at timestamptz,
  primary key (account_id, id)
);
-- The chore that finishes them, and the account's limit.
create index batches_unfinished on batches (account_id, id) where finished_at is null;
