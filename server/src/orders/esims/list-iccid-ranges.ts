import type { InputFor, IccidRange as ListedRange } from '@simplane/contract';
import type { OperatorContext } from '../../accounts/context.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { readPage } from '../../platform/lists/read-page.ts';
import { readReports } from '../../platform/processes/read-reports.ts';
import { boundsOf } from './iccid.ts';
import type { IccidRange } from './iccid-ranges.ts';
import { type RangeUse, readRangeUse } from './sql/iccids.ts';

/** The ranges that running workers take ICCIDs from, and how long they last. */
export async function listIccidRanges(
  { db }: Pick<OperatorContext, 'db'>,
  { query }: InputFor<'listIccidRanges'>,
) {
  const ranges = await configuredRanges(db);
  const listed = withDaysLeft(await readRangeUse(db, ranges.map(withBounds)));
  return readPage(query, {
    scope: { list: 'iccid_ranges', accountId: '', filters: {} },
    read: async (after, count) => {
      const start = after === null ? 0 : listed.findIndex(({ first }) => first === after) + 1;
      return listed.slice(start, start + count);
    },
    positionOf: ({ first }) => first,
    positionPattern: /^\d{19}$/,
    present: (range) => range,
  });
}

/** How many orders the operator's ranges are enough for; null if ICCIDs come from elsewhere. */
export async function countFreeIccids(db: Queryable): Promise<number | null> {
  const ranges = await configuredRanges(db);
  if (ranges.length === 0) return null;
  const used = await readRangeUse(db, ranges.map(withBounds));
  return withDaysLeft(used).reduce((sum, { free, suspect }) => sum + free + suspect, 0);
}

function withBounds(range: IccidRange) {
  return { ...range, ...boundsOf(range) };
}

/** Of a range that processes give different sizes, the largest: a setting is being changed. */
async function configuredRanges(db: Queryable): Promise<IccidRange[]> {
  const ranges = new Map<string, IccidRange>();
  for (const { report } of await readReports(db)) {
    for (const range of report.iccid_ranges ?? []) {
      if (range.size > (ranges.get(range.first)?.size ?? 0)) ranges.set(range.first, range);
    }
  }
  return [...ranges.values()];
}

const daySeconds = 86_400;
const hourSeconds = 3_600;

/** Ranges are used one after the other, so each lasts as long as it and those before it do, at the pace of all. */
function withDaysLeft(ranges: RangeUse[]): ListedRange[] {
  const perDay = ranges.reduce((sum, range) => sum + (pacePerDay(range) ?? 0), 0);
  let freeSoFar = 0;
  return ranges.map((range) => {
    const { lowest, highest, size, counter, returned, suspect, taken_before: before } = range;
    const handedOut = Math.min(counter, size);
    const free = size - handedOut + returned;
    freeSoFar += free;
    return {
      object: 'iccid_range',
      first: lowest,
      last: highest,
      size,
      taken: Math.max(0, handedOut - returned - suspect),
      free,
      returned,
      suspect,
      taken_last_week: pacePerDay(range) === null ? null : counter - (before ?? 0),
      days_left: perDay > 0 ? Math.floor(freeSoFar / perDay) : null,
    };
  });
}

/** Null if the range was first counted less than an hour ago. */
function pacePerDay({ counter, taken_before: before, seconds }: RangeUse): number | null {
  if (before === null || seconds === null || seconds < hourSeconds) return null;
  return ((counter - before) / seconds) * daySeconds;
}

/** Once an hour, so that the list can tell how fast a range is used up. */
export { countRanges as countIccidRanges } from './sql/iccids.ts';
