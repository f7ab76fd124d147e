import type { Queryable } from '../../../platform/db/database.ts';

/** Successive pages of a table. */
export type Range = { table: string; firstPage: number };

// 500 to 6,000 rows, depending on the table: a batch takes 5 to 30 ms.
const pagesPerRange = 64;

// An arbitrary constant, but the same in every release.
export const turnLockId = 7_305_124_802;

/** Adds the ranges by which the tables have grown. They are due at once. */
export async function addRanges(db: Queryable, tables: readonly string[]): Promise<void> {
  await db.query(
    {
      name: 'retention_add_ranges',
      text: `
insert into retention_ranges (table_name, first_page, due_at)
select size.table_name, first_page, '-infinity'
from (
  select table_name, pg_relation_size(table_name::regclass) / current_setting('block_size')::bigint as page_count
  from unnest($1::text[]) as given (table_name)
) size
cross join lateral generate_series(
  coalesce(
    (select max(known.first_page) + ${pagesPerRange} from retention_ranges known where known.table_name = size.table_name),
    0)::bigint,
  size.page_count - 1,
  ${pagesPerRange}) as first_page
on conflict (table_name, first_page) do nothing`,
    },
    [tables],
  );
}

/**
 * The range of these tables that has been due longest, or null. Also null if another worker has its turn: a turn lasts until the end of
 * the transaction, because a lock of the session would outlive its client behind a transaction pooler.
 */
export async function takeDueRange(
  tx: Queryable,
  tables: readonly string[],
  now: Date,
): Promise<Range | null> {
  const [range] = await tx.query<Range>(
    {
      name: 'retention_take_range',
      text: `
with turn as materialized (
  select pg_try_advisory_xact_lock(${turnLockId}) as is_ours
)
select range.table_name as "table", range.first_page as "firstPage"
from turn
cross join lateral (
  select table_name, first_page
  from retention_ranges
  where turn.is_ours and due_at <= $2 and table_name = any($1)
  order by due_at, table_name, first_page
  limit 1) range`,
    },
    [tables, now],
  );
  return range ?? null;
}

/** When to look at the range again. */
export async function setDue(db: Queryable, { table, firstPage }: Range, dueAt: Date): Promise<void> {
  await db.query(
    {
      name: 'retention_set_due',
      text: `
update retention_ranges
set due_at = $3
where table_name = $1 and first_page = $2`,
    },
    [table, firstPage, dueAt],
  );
}

/** SQL: whether a row is in the range with the bounds `$1` and `$2`. */
export const isInRange = 'ctid >= $1::tid and ctid < $2::tid';

/**
 * SQL: whether a row is older than `$3`. `is true`, because then no index matches: a plan that is made while the table is empty would
 * use the primary key, and read all of it for each range when the table has grown.
 */
export function isBefore(column: string): string {
  return `(${column} < $3) is true`;
}

export function boundsOf({ firstPage }: Range): [string, string] {
  return [`(${firstPage},0)`, `(${firstPage + pagesPerRange},0)`];
}
