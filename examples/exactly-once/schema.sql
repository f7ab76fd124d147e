create table feed_place (
  reader text primary key,
  cursor text not null
);
insert into feed_place (reader, cursor)
values ('billing', 'start');

-- No unique index on event_id: nothing here drops duplicates, because none arise.
create table charges (
  id         bigint generated always as identity primary key,
  event_id   text not null,
  iccid      text not null,
  product_id text not null
);
