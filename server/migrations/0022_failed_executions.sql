-- What becomes of failed executions: operators retry them, and decide those whose outcome is unknown.

alter table executions
  -- The execution that was started in its place.
  add column retried_by uuid,
  -- The group of a failure on which nobody has acted yet; null otherwise. See executions/failure-group.ts.
  add column failure_group text collate "C";

-- Succeeded executions have no entry in either.
create index executions_failed_by_code on executions (account_id, (error ->> 'code'), id) where status = 'failed';
create index executions_failure_groups on executions (failure_group, id) where failure_group is not null;

update executions
set failure_group = 'fg_' || left(encode(sha256(convert_to(concat_ws(chr(10),
      error ->> 'code',
      coalesce(progress #>> '{last_error,network}', ''),
      coalesce(
        (error #>> '{upstream,subject_code}') || '/' || coalesce(error #>> '{upstream,reason_code}', ''),
        'HTTP ' || (error #>> '{upstream,status}'),
        '')), 'UTF8')), 'hex'), 24)
where status = 'failed' and finished_at > now() - interval '7 days';

-- An operator's decision about an execution whose outcome was unknown. At most one each, and it is never changed.
create table execution_resolutions (
  account_id   uuid not null,
  execution_id uuid not null,
  outcome      text not null check (outcome in ('reserved', 'not_reserved')),
  -- What to do with a reserved profile.
  action       text check (action in ('adopt', 'cancel')),
  iccid        text collate "C",
  -- The actor, as the audit log shows it.
  decided_by   jsonb not null,
  decided_at   timestamptz not null,
  -- Null while the network has to be called to cancel the profile.
  closed_at    timestamptz,
  -- Why the network did not cancel it.
  error        jsonb,
  -- The queue of cancellations: when to call next, who holds it until when, and how often it failed.
  due_at       timestamptz not null default now(),
  leased_until timestamptz,
  fence        integer not null default 0,
  attempts     integer not null default 0,
  primary key (account_id, execution_id),
  check ((outcome = 'reserved') = (action is not null and iccid is not null))
);

create index execution_resolutions_due on execution_resolutions (due_at) where closed_at is null;
-- A profile is given back for one execution only.
create unique index execution_resolutions_profile on execution_resolutions (iccid) where iccid is not null;

-- Retries of failure groups: one execution first, the rest when it has succeeded.
create table failure_group_retries (
  id           uuid primary key,
  group_id     text collate "C" not null,
  status       text not null check (status in ('testing', 'running', 'succeeded', 'stopped')),
  -- The execution whose end decides about the rest.
  account_id   uuid not null,
  execution_id uuid not null,
  -- The rest: the failures up to `last_id` that come after `after_id`.
  after_id     uuid not null,
  last_id      uuid not null,
  retried      integer not null,
  -- Who asked for it, for the audit log.
  origin       jsonb not null,
  created_at   timestamptz not null,
  finished_at  timestamptz
);

create unique index failure_group_retries_open on failure_group_retries (group_id) where finished_at is null;
create index failure_group_retries_by_group on failure_group_retries (group_id, id);
