import type { Queryable } from '../../../platform/db/database.ts';
import { list, many, one, run, single } from '../../../platform/db/statement.ts';

const listInUse = list<string, [iccids: string[]]>('iccid_in_use')`
select iccid
from esims
where iccid = any($1)
union all
select iccid
from execution_queue
where iccid = any($1) and type = 'esim.provision'`;

/** Checks all accounts, because an ICCID belongs to at most one eSIM. */
export async function findIccidsInUse(db: Queryable, iccids: string[]): Promise<Set<string>> {
  return new Set(await listInUse(db, iccids));
}

export const nextIccidBlock = single<number>('iccid_block')`select nextval('iccid_blocks') as block`;

/** `first` has no check digit; `lowest` and `highest` are full ICCIDs. */
type TakenFrom = { first: string; size: number; lowest: string; highest: string };

type Taken = { start: number; end: number; returned: string[] };

const take = one<Taken, [range: TakenFrom, count: number]>(
  'iccid_range_take',
  ({ first, size, lowest, highest }, count) => [first, count, size, lowest, highest],
)`
with returned as (
  delete from returned_iccids
  where iccid = any(array(
    select iccid
    from returned_iccids
    where iccid between $4 and $5 and not is_suspect
    order by returned_at
    limit $2
    for update skip locked
  ))
  returning iccid
), missing as (
  select $2::bigint - count(*) as count
  from returned
), taken as (
  insert into iccid_ranges as range (first_number, taken_before, taken)
  select $1, 0, least(missing.count, $3::bigint)
  from missing
  on conflict (first_number) do update
  set taken_before = range.taken,
      taken = greatest(range.taken, least(range.taken + (select count from missing), $3::bigint))
  returning taken_before, taken
)
select
  taken_before as start,
  taken as end,
  array(select iccid from returned) as returned
from taken`;

/**
 * Takes the requested number of ICCIDs, or fewer if the range has less left: those that were returned, then from `start` up to
 * but excluding `end`.
 */
export async function takeFromRange(db: Queryable, range: TakenFrom, count: number): Promise<Taken> {
  return (await take(db, range, count)) ?? { start: 0, end: 0, returned: [] };
}

/** Stores an ICCID for the next order that needs one. */
export const storeReturned = run<[iccid: string, state: 'free' | 'suspect']>(
  'iccid_store_returned',
  (iccid, state) => [iccid, state === 'suspect'],
)`
insert into returned_iccids (iccid, is_suspect)
values ($1, $2)
on conflict (iccid) do nothing`;

/** Takes suspect ICCIDs, those that have waited longest first. */
export const takeSuspects = list<string, [range: { lowest: string; highest: string }, count: number]>(
  'iccid_take_suspects',
  ({ lowest, highest }, count) => [lowest, highest, count],
)`
delete from returned_iccids
where iccid = any(array(
  select iccid
  from returned_iccids
  where iccid between $1 and $2 and is_suspect
  order by returned_at
  limit $3
  for update skip locked
))
returning iccid`;

/** Stores how far each ICCID range is used, once an hour, and forgets counts that are older than the pace looks back. */
export const countRanges = run('iccid_range_count')`
with old as (
  delete from iccid_range_hours
  where hour < now() - interval '8 days'
)
insert into iccid_range_hours (first_number, hour, taken, counted_at)
select first_number, date_trunc('hour', now()), taken, now()
from iccid_ranges
on conflict (first_number, hour) do nothing`;

type Range = { first: string; size: number; lowest: string; highest: string };

export type RangeUse = Range & {
  /** How many numbers were ever taken from the range, including returned ones. */
  counter: number;
  returned: number;
  suspect: number;
  /** The counter at the oldest count of the last week, and how long ago that was; null if there is none. */
  taken_before: number | null;
  seconds: number | null;
};

// Returned ICCIDs are few: orders use them up first. This bounds the scan if something returns them by the million.
const countLimit = 100_000;

/** How much of each range is used, in the order given. */
export const readRangeUse = many<RangeUse, [ranges: Range[]]>('iccid_range_read_use', (ranges) => [
  ranges.map(({ first }) => first),
  ranges.map(({ size }) => size),
  ranges.map(({ lowest }) => lowest),
  ranges.map(({ highest }) => highest),
])`
select
  given.first,
  given.size,
  given.lowest,
  given.highest,
  coalesce(range.taken, 0) as counter,
  back.returned,
  back.suspect,
  week.taken as taken_before,
  extract(epoch from now() - week.counted_at)::float8 as seconds
from unnest($1::text[], $2::bigint[], $3::text[], $4::text[]) with ordinality
  as given (first, size, lowest, highest, place)
left join iccid_ranges range on range.first_number = given.first
left join lateral (
  select taken, counted_at
  from iccid_range_hours
  where first_number = given.first and hour >= now() - interval '7 days'
  order by hour
  limit 1
) week on true
cross join lateral (
  select
    count(*) filter (where not is_suspect) as returned,
    count(*) filter (where is_suspect) as suspect
  from (
    select is_suspect
    from returned_iccids
    where iccid between given.lowest and given.highest
    limit ${countLimit}
  ) found
) back
order by given.place`;
