-- concurrently
-- How many orders of a batch are open and how many have ended. An order without a batch has no entry.
create index concurrently executions_by_batch on executions
  (account_id, ((input ->> 'batch_id') collate "C"), id)
  where input ->> 'batch_id' is not null;
create index concurrently execution_queue_by_batch on execution_queue
  (account_id, ((input ->> 'batch_id') collate "C"), id)
  where input ->> 'batch_id' is not null;
