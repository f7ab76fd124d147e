-- Filters of lists. Each filtered page is a range of one index in the list's order, however rare or common the value is.

create index esims_by_eid on esims (account_id, eid, id) where eid is not null;

create index executions_by_type on executions (account_id, type, id);
create index executions_failed_by_type on executions (account_id, type, id) where status = 'failed';
-- Changes must be found behind a backlog of new orders, which have no entry here: that would slow every order down.
-- Without the type: with it, a plan made for an empty queue prefers the primary key.
create index execution_queue_changes on execution_queue (account_id, id) where type <> 'esim.provision';

-- An eSIM has many pairs and a product many countries, and a GIN index has no order: a value that a million rows share would be read
-- and sorted for each page. Triggers keep these tables, so that processes of the previous release do too.
create table esim_metadata (
  account_id uuid not null,
  key        text collate "C" not null,
  value      text collate "C" not null,
  esim_id    uuid not null,
  primary key (account_id, key, value, esim_id)
);

create function write_esim_metadata() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    delete from esim_metadata m
    using jsonb_each_text(old.metadata) as pair (key, value)
    where m.account_id = old.account_id
      and m.key = pair.key
      and m.value = pair.value
      and m.esim_id = old.id;
  end if;
  insert into esim_metadata (account_id, key, value, esim_id)
  select new.account_id, key, value, new.id
  from jsonb_each_text(new.metadata);
  return null;
end $$;

-- An eSIM without metadata does not call the function.
create trigger esim_metadata_inserted after insert on esims
  for each row when (new.metadata <> '{}') execute function write_esim_metadata();
create trigger esim_metadata_updated after update of metadata on esims
  for each row when (new.metadata is distinct from old.metadata) execute function write_esim_metadata();

insert into esim_metadata (account_id, key, value, esim_id)
select account_id, key, value, id
from esims cross join jsonb_each_text(metadata);

-- The products of the list, by country.
create table product_countries (
  country    text collate "C" not null,
  created_at timestamptz not null,
  product_id text collate "C" not null,
  primary key (country, created_at, product_id)
);

create function write_product_countries() returns trigger language plpgsql as $$
begin
  if tg_op = 'UPDATE' then
    delete from product_countries
    where country = any(old.countries) and created_at = old.created_at and product_id = old.id;
  end if;
  insert into product_countries (country, created_at, product_id)
  select distinct country, new.created_at, new.id
  from unnest(new.countries) as country
  where new.active and new.listed;
  return null;
end $$;

create trigger product_countries_written after insert or update on products
  for each row execute function write_product_countries();

insert into product_countries (country, created_at, product_id)
select distinct country, created_at, id
from products cross join unnest(countries) as country
where active and listed;
