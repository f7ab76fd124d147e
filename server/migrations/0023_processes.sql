-- What the operator looks at.

-- The running processes. Each writes its row every few seconds and removes it when it stops.
create table processes (
  id         uuid primary key,
  role       text not null check (role in ('all', 'api', 'worker')),
  version    text not null,
  host       text not null,
  pid        integer not null,
  started_at timestamptz not null,
  seen_at    timestamptz not null,
  -- What only this process knows, for the operator: how it reaches the networks, and its settings' ICCID ranges.
  report     jsonb not null
) with (
  -- Room for updates within the page.
  fillfactor = 50
);

-- The operator's list of all products.
create index products_newest on products (created_at, id);

-- How far each ICCID range was used, hour by hour, for the pace of the last week.
create table iccid_range_hours (
  first_number text collate "C" not null,
  hour         timestamptz not null,
  taken        bigint not null,
  counted_at   timestamptz not null,
  primary key (first_number, hour)
);
