import { lowestUuid, lowestUuidAt } from '../ids/uuid-range.ts';
import { beforeFirst } from './keyset.ts';

type CreatedQuery = {
  'created[gt]'?: number;
  'created[gte]'?: number;
  'created[lt]'?: number;
  'created[lte]'?: number;
};

/** From `fromSeconds` up to, but not including, `untilSeconds`. */
export type CreatedRange = { fromSeconds: number; untilSeconds: number };

/** The range of a list's `created` filters; undefined if none is given. `created` is shown in whole seconds. */
export function createdRangeOf(query: CreatedQuery): CreatedRange | undefined {
  const { 'created[gt]': gt, 'created[gte]': gte, 'created[lt]': lt, 'created[lte]': lte } = query;
  if ((gt ?? gte ?? lt ?? lte) === undefined) return undefined;
  return {
    fromSeconds: Math.max(gte ?? 0, (gt ?? -1) + 1),
    untilSeconds: Math.min(lt ?? lastSecond, (lte ?? lastSecond) + 1),
  };
}

/** The ids of a page: from `fromUuid` up to, but not including, `beforeUuid`. `marginMs` widens the range of times. */
export function idRangeOf(range: CreatedRange | undefined, beforeUuid: string | null, marginMs = 0) {
  const before = beforeUuid ?? beforeFirst;
  if (!range) return { fromUuid: lowestUuid, beforeUuid: before };
  const until = lowestUuidAt(range.untilSeconds * 1_000 + marginMs);
  return {
    fromUuid: lowestUuidAt(range.fromSeconds * 1_000 - marginMs),
    beforeUuid: before < until ? before : until,
  };
}

// The first second of the year 10000. Filters take times up to the one before it.
const lastSecond = 253_402_300_800;
