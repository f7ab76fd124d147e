-- Sessions of the dashboard can be listed and ended one by one: who is signed in, from where and with what.

alter table dashboard_sessions
  add column id uuid,
  add column ip text,
  add column user_agent text;

update dashboard_sessions
set id = uuid_v7(created_at);

-- Processes of the previous release insert sessions without an id.
alter table dashboard_sessions
  alter column id set default uuid_v7(now()),
  alter column id set not null;

create unique index dashboard_sessions_by_id on dashboard_sessions (id);

-- Who fails to sign in has no key. `not valid`: entries from before satisfy the old, stricter check, so none is read.
alter table audit_log
  drop constraint audit_log_actor_type_check,
  add constraint audit_log_actor_type_check
    check (actor_type in ('api_key', 'operator', 'command_line', 'anonymous')) not valid;
