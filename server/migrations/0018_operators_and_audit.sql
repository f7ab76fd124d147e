-- Keys of operators, limits of accounts, and the log of who changed what.

-- An operator's key belongs to no account and has no other scope.
alter table api_keys
  alter column account_id drop not null,
  add column allowed_cidrs text[] not null default '{}',
  -- The actor that created it, as the audit log shows it. Null for keys from before this migration.
  add column created_by jsonb,
  -- The key that was made by rolling this one.
  add column replaced_by uuid,
  add constraint api_keys_account check (
    case when account_id is null then scopes = '{operator}' else not 'operator' = any(scopes) end
  );

-- Null limits: those of the deployment.
alter table accounts
  add column status text not null default 'active' check (status in ('active', 'suspended')),
  add column max_webhook_endpoints integer check (max_webhook_endpoints >= 0),
  add column max_open_executions integer check (max_open_executions >= 0),
  add column requests_per_second integer check (requests_per_second > 0);

-- Written in the transaction of what an entry tells of.
create table audit_log (
  -- Null if it concerns the deployment and not one account.
  account_id  uuid,
  id          uuid primary key,
  actor_type  text not null check (actor_type in ('api_key', 'operator', 'command_line')),
  actor_id    text,
  actor_name  text,
  action      text not null,
  target_type text not null,
  target_id   text not null,
  changes     jsonb,
  request_id  text,
  ip          text,
  created_at  timestamptz not null
);

create index audit_log_by_account on audit_log (account_id, id);
