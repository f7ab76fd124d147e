import type { Queryable } from '../../../platform/db/database.ts';

/** `first` has no check digit; `lowest` and `highest` are full ICCIDs. */
type Range = { first: string; size: number; lowest: string; highest: string };

type Taken = { start: number; end: number; returned: string[] };

/**
 * Takes the requested number of ICCIDs, or fewer if the range has less left: those that were returned, then from `start` up to
 * but excluding `end`.
 */
export async function takeFromRange(
  db: Queryable,
  { first, size, lowest, highest }: Range,
  count: number,
): Promise<Taken> {
  const [row] = await db.query<Taken>(
    {
      name: 'iccid_range_take',
      text: `
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
from taken`,
    },
    [first, count, size, lowest, highest],
  );
  return row ?? { start: 0, end: 0, returned: [] };
}
