import type { Queryable } from '../../../platform/db/database.ts';

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
export async function readRangeUse(db: Queryable, ranges: Range[]): Promise<RangeUse[]> {
  return db.query(
    {
      name: 'iccid_range_read_use',
      text: `
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
order by given.place`,
    },
    [
      ranges.map(({ first }) => first),
      ranges.map(({ size }) => size),
      ranges.map(({ lowest }) => lowest),
      ranges.map(({ highest }) => highest),
    ],
  );
}
