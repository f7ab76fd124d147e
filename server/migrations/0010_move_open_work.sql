-- stop-older-processes: they would not see what has moved.
-- in-batches: select 0 as count

-- Deliveries.

-- Executions.
