import { activeOf, type Change, type Happening, nextQueuedOf, promote, withBundle } from './plan.ts';
import type { BundleRow } from './sql.ts';
import { mayHappen, moved } from './state.ts';

type Usage = { bytes: number; at: Date };

/**
 * Counts bytes: the active bundle takes what it has room for, the rest spills over to the queued ones in turn, and the
 * last one takes what is left, beyond its size. So the sum alone decides, whatever the order of the records.
 */
export function countUsage(
  before: Change,
  { bytes, at }: Usage,
  { promotes }: { promotes: boolean },
): Change {
  let change = promote(before, at);
  let rest = bytes;
  while (rest > 0) {
    const taker = activeOf(change) ?? lastOf(change);
    if (!taker) break;
    const taken = Math.min(rest, roomIn(taker, change));
    change = fill(change, taker, { bytes: taken, at });
    rest -= taken;
    // A late record may be older than the bundle that it fills; the next one still begins after it.
    if (rest > 0 || promotes) change = promote(change, laterOf(at, taker.activated_at));
  }
  return change;
}

function roomIn({ data_bytes, used_bytes }: BundleRow, change: Change): number {
  if (data_bytes === null || !nextQueuedOf(change)) return Number.POSITIVE_INFINITY;
  return Math.max(data_bytes - used_bytes, 0);
}

function lastOf({ bundles }: Change): BundleRow | undefined {
  return bundles.findLast(({ status }) => status !== 'canceled');
}

function fill(change: Change, before: BundleRow, { bytes, at }: Usage): Change {
  const bundle = {
    ...before,
    // Stays a number that JSON can carry, however much is reported.
    used_bytes: Math.min(before.used_bytes + bytes, Number.MAX_SAFE_INTEGER),
    as_of: laterOf(at, before.as_of),
  };
  const happenings: Happening[] = levelsCrossed(before, bundle).map((percent) => ({
    type: 'bundle.usage_threshold',
    bundle,
    percent,
  }));
  const isUsedUp = bundle.data_bytes !== null && bundle.used_bytes >= bundle.data_bytes;
  if (!isUsedUp || !mayHappen('deplete', bundle.status)) return withBundle(change, bundle, happenings);
  const depleted = moved(bundle, 'deplete');
  return withBundle(change, depleted, [...happenings, { type: 'bundle.depleted', bundle: depleted }]);
}

/** Ascending. A level is crossed once, since usage only grows. */
function levelsCrossed(before: BundleRow, after: BundleRow): number[] {
  const crossed = after.thresholds.filter(
    (percent) => hasReached(after, percent) && !hasReached(before, percent),
  );
  return crossed.length > 1 ? [...new Set(crossed)].sort((a, b) => a - b) : crossed;
}

/** Exactly: a hundred times a count of bytes may be beyond what a JavaScript number holds, and is a `BigInt` only then. */
function hasReached({ used_bytes, data_bytes }: BundleRow, percent: number): boolean {
  if (data_bytes === null) return false;
  const [used, level] = [used_bytes * 100, data_bytes * percent];
  if (Number.isSafeInteger(used) && Number.isSafeInteger(level)) return used >= level;
  return BigInt(used_bytes) * 100n >= BigInt(data_bytes) * BigInt(percent);
}

function laterOf(at: Date, other: Date | null): Date {
  return other && other > at ? other : at;
}
