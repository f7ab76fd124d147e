import type { Queryable } from '../../platform/db/database.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { many, one, run, single, value } from '../../platform/db/statement.ts';
import { lowestUuidAt, unixMsOf } from '../../platform/ids/uuid-range.ts';

/** Successive pages of a table. */
export type Range = { table: string; firstPage: number };

// 500 to 6,000 rows, depending on the table: a batch takes 5 to 30 ms.
const pagesPerRange = 64;

// An arbitrary constant, but the same in every release.
export const turnLockId = 7_305_124_802;

/** Adds the ranges by which the tables have grown. They are due at once. */
export const addRanges = run<[tables: readonly string[]]>('retention_add_ranges')`
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
on conflict (table_name, first_page) do nothing`;

/**
 * The range of these tables that has been due longest, or null. Also null if another worker has its turn: a turn lasts until the end of
 * the transaction, because a lock of the session would outlive its client behind a transaction pooler.
 */
export const takeDueRange = one<Range, [tables: readonly string[], now: Date]>('retention_take_range')`
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
  limit 1) range`;

/** When to look at the range again. */
export const setDue = run<[range: Range, dueAt: Date]>('retention_set_due', ({ table, firstPage }, dueAt) => [
  table,
  firstPage,
  dueAt,
])`
update retention_ranges
set due_at = $3
where table_name = $1 and first_page = $2`;

/** SQL: whether a row is in the range with the bounds `$1` and `$2`. */
const isInRange = 'ctid >= $1::tid and ctid < $2::tid';

/**
 * SQL: whether a row is older than `$3`. `is true`, because then no index matches: a plan that is made while the table is empty would
 * use the primary key, and read all of it for each range when the table has grown.
 */
function isBefore(column: string): string {
  return `(${column} < $3) is true`;
}

function boundsOf({ firstPage }: Range): [string, string] {
  return [`(${firstPage},0)`, `(${firstPage + pagesPerRange},0)`];
}

/** The time of the oldest row in the range, in milliseconds since 1970; null if it has none. */
export async function findOldestMs(tx: Queryable, range: Range, { column }: Age): Promise<number | null> {
  const oldest = await value<string | Date, unknown[]>(`retention_oldest_${range.table}`)`
select ${column} as oldest
from ${range.table}
where ${isInRange}
order by ${column}
limit 1`(tx, ...boundsOf(range));
  return typeof oldest === 'string' ? unixMsOf(oldest) : (oldest?.getTime() ?? null);
}

/** The column that tells a row's age: a UUIDv7 or a time. */
export type Age = { column: string; type: 'uuid' | 'time' };

type Old = { range: Range; age: Age; than: Date; condition: string };

/** Deletes the range's rows that are older than `than` and meet the condition. Returns how many. */
export function deleteRows(tx: Queryable, { range, age, than, condition }: Old): Promise<number> {
  const oldest = age.type === 'uuid' ? lowestUuidAt(than.getTime()) : than;
  return single<number, unknown[]>(`retention_delete_${range.table}`)`
with removed as (
  delete from ${range.table}
  where ${isInRange} and ${isBefore(age.column)} and ${condition}
  returning 1
)
select count(*)::integer as count
from removed`(tx, ...boundsOf(range), oldest);
}

/** Deletes the range's usage records that are older than `than`, and adds them to the sums of their days. Returns how many. */
export const deleteUsage = single<number, [range: Range, than: Date]>(
  'retention_delete_usage',
  (range, than) => [...boundsOf(range), than],
)`
with removed as (
  delete from usage_records
  where ${isInRange} and ${isBefore('observed_at')}
  returning account_id, iccid, observed_at, bytes
), added as (
  insert into usage_days as known (iccid, day, bytes, account_id)
  select iccid, date_bin('1 day', observed_at, 'epoch'), sum(bytes), (array_agg(account_id order by account_id))[1]
  from removed
  group by 1, 2
  on conflict (iccid, day) do update
  set bytes = known.bytes + excluded.bytes
)
select count(*)::integer as count
from removed`;

type OldEvents = { range: Range; thanUuid: string };

/** How many events of each account in the range have ids before `thanUuid`. */
export const countOldEvents = many<{ accountUuid: string; count: number }, [old: OldEvents]>(
  'retention_count_events',
  ({ range, thanUuid }) => [...boundsOf(range), thanUuid],
)`
select account_id as "accountUuid", count(*)::integer as count
from events
where ${isInRange} and ${isBefore('id')}
group by account_id`;

/** `keptFromUuid`: the lowest event id of the account that must stay, or null. */
type Account = { accountUuid: string; keptFromUuid: string | null };

const given = rowsOf<Account>(
  {
    account_id: column.uuid((one) => one.accountUuid),
    kept_from: column.uuid((one) => one.keptFromUuid),
  },
  4,
);

/**
 * Deletes the range's events with ids before `thanUuid`, of these accounts. Those with a pending delivery stay: nothing else could send
 * it. Returns how many.
 */
export const deleteEvents = single<number, [old: OldEvents, accounts: readonly Account[]]>(
  'retention_delete_events',
  ({ range, thanUuid }, accounts) => [...boundsOf(range), thanUuid, ...given.values(accounts)],
)`
with old as materialized (
  select ctid as place, account_id, id
  from events
  where ${isInRange} and ${isBefore('id')}
), bounds as materialized (
  select
    (select id from old order by id limit 1) as lowest,
    (select id from old order by id desc limit 1) as highest
), pending as materialized (
  select queued.event_id
  from bounds
  cross join lateral (
    select event_id from delivery_queue where event_id between lowest and highest
    union all
    select event_id from blocked_deliveries where event_id between lowest and highest
    offset 0) queued
), removed as (
  delete from events
  where ctid = any(array(
    select old.place
    from old
    join ${given.table} given on given.account_id = old.account_id
    where (given.kept_from is null or old.id < given.kept_from)
      and old.id not in (select event_id from pending)))
  returning 1
)
select count(*)::integer as count
from removed`;
