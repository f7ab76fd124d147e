-- Where retention looks next. A table's pages are swept in ranges. A new row is younger than what a sweep left in its range, so a range
-- needs no look before the oldest row left in it has expired. Inserts write nothing here.
create table retention_ranges (
  table_name text collate "C" not null,
  first_page integer not null,
  due_at     timestamptz not null,
  primary key (table_name, first_page)
) with (
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0
);

create index retention_ranges_due on retention_ranges (due_at, table_name, first_page);
