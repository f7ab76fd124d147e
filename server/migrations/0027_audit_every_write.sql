-- Every write is in the audit log, orders too: those that are accepted together share an entry.
alter table audit_log
  -- How it reached the server: api, dashboard, agent or command_line. Null for entries from before this migration.
  add column via text,
  -- The executions of several orders, and their requests in the same order. Not in `changes`: with JSON, accepting cost more.
  add column orders uuid[],
  add column order_requests text[];
