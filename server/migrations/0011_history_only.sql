-- stop-older-processes: it drops the columns that their queues were made of.

-- Deliveries.

-- Executions.
