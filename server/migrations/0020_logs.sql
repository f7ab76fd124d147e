-- Lists of the audit log, newest first, for each filter: in an account, and across all of them.
-- An account's view shows its operator without a name, so all operators and the command line are one actor there.
create index audit_log_by_action on audit_log (account_id, action, id);
create index audit_log_by_target on audit_log (account_id, target_id, id);
create index audit_log_by_actor on audit_log
  (account_id, (case when actor_type = 'api_key' then actor_id else 'operator' end), action, id);
create index audit_log_all_by_action on audit_log (action, id);
create index audit_log_all_by_target on audit_log (target_id, id);
create index audit_log_all_by_actor on audit_log ((coalesce(actor_id, actor_type)), action, id);
