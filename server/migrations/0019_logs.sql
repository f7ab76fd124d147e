-- Lists of the audit log, newest first, for each filter: in an account, and across all of them.
-- An account's view shows its operator without a name, so all operators and the command line are one actor there.
create index audit_log_by_action on audit_log (account_id, action, id);
create index audit_log_by_target on audit_log (account_id, target_id, id);
create index audit_log_by_actor on audit_log
  (account_id, (case when actor_type = 'api_key' then actor_id else 'operator' end), action, id);
create index audit_log_all_by_action on audit_log (action, id);
create index audit_log_all_by_target on audit_log (target_id, id);
create index audit_log_all_by_actor on audit_log ((coalesce(actor_id, actor_type)), action, id);

-- Requests of accounts' keys, without bodies. Its id is the `Request-Id`, which begins with its time. Written in batches off the
-- hot path, so it has few indexes, and kept for seven days.
create table request_log (
  account_id    uuid not null,
  id            uuid not null,
  api_key_id    uuid not null,
  duration_ms   integer not null,
  status        smallint not null,
  method        text not null,
  path          text not null,
  -- Empty for what is not an operation.
  operation     text not null,
  error_code    text,
  error_message text,
  error_param   text,
  idempotency   text,
  -- Separated by spaces.
  created_ids   text,
  ip            text,
  primary key (account_id, id)
);

create index request_log_by_status on request_log (account_id, status, operation, id);
create index request_log_by_error on request_log (account_id, error_code, operation, id) where error_code is not null;
