-- What did not arrive.

-- A later delivery of the same event to the same endpoint was queued, so this one no longer tells whether the event arrived.
alter table deliveries add column is_superseded boolean not null default false;

-- The past times in which an endpoint was disabled, with its subscriptions then: events of these times have no delivery. The current
-- one is in `webhook_endpoints` (`disabled_at`), so that disabling writes nothing else.
create table endpoint_gaps (
  account_id          uuid not null,
  endpoint_id         uuid not null,
  from_at             timestamptz not null,
  until_at            timestamptz not null,
  enabled_event_types text[] not null,
  primary key (account_id, endpoint_id, from_at),
  foreign key (account_id, endpoint_id) references webhook_endpoints (account_id, id) on delete cascade
);

alter table recoveries
  -- Only events of these types and families; null for all.
  add column types text[],
  -- Only what was undelivered, instead of all that the endpoint subscribes to now.
  add column is_of_undelivered boolean not null default false;

-- An id as the API shows it, to compare it with one in an event's body.
create function public_id(prefix text, id uuid) returns text language sql immutable strict parallel safe as $$
  select prefix || '_' || string_agg(
    substr('0123456789abcdefghjkmnpqrstvwxyz', substring(bits from place * 5 + 1 for 5)::bit(5)::integer + 1, 1), '' order by place)
  from (select '00'::bit(2) || ('x' || replace(id::text, '-', ''))::bit(128) as bits) made
  cross join generate_series(0, 25) as place
$$;
