-- One row: which mode this database belongs to.
create table deployment_mode (
  is_only boolean primary key default true check (is_only),
  mode    text not null check (mode in ('sandbox', 'live'))
);

create table webhook_endpoints (
  account_id          uuid not null,
  id                  uuid not null,
  url                 text not null,
  enabled_event_types text[] not null,
  description         text,
  metadata            jsonb not null,
  status              text not null check (status in ('enabled', 'disabled')),
  -- Set when we disabled it, not when its owner did.
  disabled_reason     text,
  disabled_at         timestamptz,
  api_version         text not null,
  created_at          timestamptz not null,
  -- Health since the last success or enabling: what the verdict is reached from.
  failing_since       timestamptz,
  failure_count       integer not null default 0,
  last_success_at     timestamptz,
  primary key (account_id, id)
);

-- Sealed with the deployment's keys. More than one lives while a rotation overlaps.
create table webhook_secrets (
  account_id  uuid not null,
  endpoint_id uuid not null,
  id          uuid not null,
  sealed      text not null,
  created_at  timestamptz not null,
  expires_at  timestamptz,
  primary key (account_id, endpoint_id, id),
  foreign key (account_id, endpoint_id) references webhook_endpoints (account_id, id) on delete cascade
);

-- One row per event and endpoint, written in the event's own statement. The row is the job.
create table deliveries (
  account_id    uuid not null,
  id            uuid not null,
  event_id      uuid not null,
  endpoint_id   uuid not null,
  status        text not null check (status in ('pending', 'succeeded', 'failed', 'canceled')),
  origin        text not null check (origin in ('event', 'replay', 'recovery', 'retry')),
  attempt_count integer not null default 0,
  -- When it may be sent next. It does not move with a claim: the lease is in columns without an index, so that a claim
  -- and a renewed one are updates within the page.
  due_at        timestamptz not null,
  leased_until  timestamptz,
  fence         integer not null default 0,
  created_at    timestamptz not null,
  finished_at   timestamptz,
  primary key (account_id, id)
) with (fillfactor = 80);

create index deliveries_pending on deliveries (endpoint_id, due_at) where status = 'pending';
create index deliveries_by_endpoint on deliveries (account_id, endpoint_id, id);
create index deliveries_by_event on deliveries (account_id, event_id, id);
-- For the events that could not be delivered: few, and wanted from anywhere in the log.
create index deliveries_failed on deliveries (account_id, event_id) where status = 'failed';

create table delivery_attempts (
  account_id       uuid not null,
  delivery_id      uuid not null,
  number           integer not null,
  at               timestamptz not null,
  duration_ms      integer not null,
  status_code      integer,
  error            text,
  response_excerpt text,
  primary key (account_id, delivery_id, number)
);

-- "Deliver what this endpoint has missed since then": durable work, done in steps from the newest event to the oldest.
create table recoveries (
  account_id  uuid not null,
  id          uuid not null,
  endpoint_id uuid not null,
  from_event  uuid not null,
  until_event uuid not null,
  -- Everything from here up is done.
  position    uuid not null,
  finished_at timestamptz,
  created_at  timestamptz not null,
  primary key (account_id, id)
);

create index recoveries_open on recoveries (created_at) where finished_at is null;

-- Stored answers that hold a signing secret are sealed as well.
alter table idempotency_keys add column is_sealed boolean not null default false;

-- Whether another change of an eSIM is under way.
create index executions_open_by_iccid on executions (iccid)
  where status in ('queued', 'running') and iccid is not null;

-- UUIDv7 (RFC 9562 §5.7) for rows that a statement makes itself, where the application cannot know how many there will be.
create function uuid_v7(at timestamptz) returns uuid language sql volatile parallel safe as $$
  select encode(
    set_byte(bits, 6, (get_byte(bits, 6) & 15) | 112), 'hex')::uuid
  from (select overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from at) * 1000)::bigint) from 3) from 1 for 6) as bits) made
$$;
