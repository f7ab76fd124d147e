-- stop-older-processes: they would look for open work in the tables of its history.
-- Open work gets narrow tables of its own. Executions and deliveries are written to their history once, when they end.

-- Deliveries.

-- Executions.
