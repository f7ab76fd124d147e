-- concurrently
-- Each has entries only for rows with a reference, so an order without one pays for a look into its JSON.
create index concurrently esims_by_reference on esims (account_id, reference, id)
  where reference is not null;
create index concurrently executions_by_reference on executions
  (account_id, ((input ->> 'reference') collate "C"), id)
  where input ->> 'reference' is not null;
create index concurrently execution_queue_by_reference on execution_queue
  (account_id, ((input ->> 'reference') collate "C"), id)
  where input ->> 'reference' is not null;
-- As in the body's JSON, up to the first quotation mark: enough to find it, then the JSON is compared.
create index concurrently events_by_reference on events
  (account_id, (left(split_part(split_part(body, '"reference":"', 2), '"', 1), 200) collate "C"), id)
  where strpos(body, '"reference":"') > 0;
-- For the search, which does not know the key.
create index concurrently esim_metadata_by_value on esim_metadata (account_id, value, esim_id);
