-- The event feed: every event has a position in its account's feed, assigned after its commit.

-- Committed events without a position, in the order in which their statements wrote them. A sequencer moves them to `event_feed`.
create table unsequenced_events (
  id         bigint generated always as identity primary key,
  account_id uuid not null,
  event_ids  uuid[] not null
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_insert_threshold = -1,
  autovacuum_vacuum_cost_delay = 0
);

-- A run of positions: the events of one account that one pass of the sequencer found. Positions are dense.
create table event_feed (
  account_id     uuid not null,
  first_position bigint not null,
  event_ids      uuid[] not null,
  -- Random. A cursor carries the mark of its position, so a cursor from before a restore to an earlier point is recognized.
  mark           integer not null,
  oldest_id      uuid not null,
  -- The greatest event id up to here, so it never decreases from one run to the next.
  newest_id      uuid not null,
  sequenced_at   timestamptz not null default now(),
  primary key (account_id, first_position)
);

-- Finds the run of an event, and the events that retention must keep.
create index event_feed_by_oldest on event_feed (account_id, oldest_id);
-- Finds the first position at or after a time.
create index event_feed_by_newest on event_feed (account_id, newest_id);

create table event_feed_heads (
  account_id      uuid primary key,
  last_position   bigint not null,
  mark            integer not null,
  newest_id       uuid not null,
  -- Events up to this position have been removed, or may have been.
  expired_through bigint not null default 0
) with (
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

create table event_consumers (
  account_id uuid not null,
  name       text collate "C" not null,
  position   bigint not null,
  mark       integer not null,
  -- Null: all types.
  types      text[],
  created_at timestamptz not null,
  primary key (account_id, name)
);

-- A trigger, so that processes of the previous release write to the feed too. It fires at the end of the statement, when the
-- statement has its row locks: of two events of an eSIM, the one that is committed first has the lower id here.
create function add_to_unsequenced_events() returns trigger language plpgsql as $$
begin
  insert into unsequenced_events (account_id, event_ids)
  select account_id, array_agg(id order by id)
  from inserted
  group by account_id;
  return null;
end
$$;

create trigger events_to_sequence
after insert on events
referencing new table as inserted
for each statement execute function add_to_unsequenced_events();

-- Events from before the feed get their positions in id order. The trigger's lock keeps new events out until this is done.
insert into event_feed (account_id, first_position, event_ids, mark, oldest_id, newest_id)
select account_id, min(position), array_agg(id order by id), (random() * 2147483646)::integer + 1,
  (array_agg(id order by id))[1], (array_agg(id order by id desc))[1]
from (
  select account_id, id, row_number() over (partition by account_id order by id) as position
  from events) numbered
group by account_id, (position - 1) / 1000;

insert into event_feed_heads (account_id, last_position, mark, newest_id)
select distinct on (account_id) account_id, first_position + cardinality(event_ids) - 1, mark, newest_id
from event_feed
order by account_id, first_position desc;
