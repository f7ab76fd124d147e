-- Ids are UUIDv7 made by the application. Tables that belong to an account are keyed by it first, so they can be
-- partitioned or distributed by account without a change to any query.

create table accounts (
  id          uuid primary key,
  name        text not null,
  api_version text not null,
  created_at  timestamptz not null
);

create table api_keys (
  id           uuid primary key,
  account_id   uuid not null references accounts (id),
  hash         bytea not null unique,
  name         text not null,
  scopes       text[] not null,
  last4        text not null,
  created_at   timestamptz not null,
  expires_at   timestamptz,
  revoked_at   timestamptz,
  last_used_at timestamptz
);

create index api_keys_by_account on api_keys (account_id, id);

create table products (
  id             text collate "C" primary key,
  name           text not null,
  countries      text[] not null,
  data_bytes     bigint check (data_bytes > 0),
  validity_days  integer not null check (validity_days > 0),
  price_amount   bigint not null check (price_amount >= 0),
  price_currency text not null,
  speeds         text[] not null,
  active         boolean not null,
  listed         boolean not null,
  created_at     timestamptz not null
);

create index products_in_catalog on products (created_at, id) where active and listed;

create table executions (
  account_id  uuid not null,
  id          uuid not null,
  type        text not null,
  status      text not null check (status in ('queued', 'running', 'succeeded', 'failed')),
  product_id  text,
  iccid       text,
  input       jsonb not null,
  error       jsonb,
  attempts    integer not null default 0,
  created_at  timestamptz not null,
  finished_at timestamptz,
  primary key (account_id, id)
);

-- The filter by status: nearly every row ends as `succeeded`, which the primary key finds at once; the rest are few.
create index executions_unsettled on executions (account_id, status, id) where status <> 'succeeded';

create table idempotency_keys (
  account_id  uuid not null,
  key         text collate "C" not null,
  fingerprint bytea not null,
  status      smallint not null,
  location    text,
  body        text not null,
  created_at  timestamptz not null,
  expires_at  timestamptz not null,
  primary key (account_id, key)
);

create index idempotency_keys_by_expiry on idempotency_keys (expires_at);
