import type { Queryable } from '../../db/database.ts';

type Range = { first: string; size: number };

/** Takes the requested number of ICCIDs, or fewer if the range has less left: from `start` up to but excluding `end`. */
export async function takeFromRange(
  db: Queryable,
  { first, size }: Range,
  count: number,
): Promise<{ start: number; end: number }> {
  const [row] = await db.query<{ start: number; end: number }>(
    {
      name: 'iccid_range_take',
      text: `
insert into iccid_ranges as range (first_number, taken_before, taken)
values ($1, 0, least($2::bigint, $3::bigint))
on conflict (first_number) do update
set taken_before = range.taken,
    taken = greatest(range.taken, least(range.taken + $2::bigint, $3::bigint))
returning taken_before as start, taken as end`,
    },
    [first, count, size],
  );
  return row ?? { start: 0, end: 0 };
}
