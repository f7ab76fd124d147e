import { activeOf, type BundleEvent, type Change, nextQueuedOf, promote, withBundle } from './plan.ts';
import type { BundleRow } from './sql.ts';
import { canTransition, transitioned } from './state.ts';

type Usage = { bytes: number; at: Date };

/**
 * Counts bytes on the active bundle. Excess spills over to the queued bundles in order; the last one takes the rest, even
 * beyond its size. So the result depends only on the sum, not on the order of the records.
 */
export function countUsage(
  before: Change,
  { bytes, at }: Usage,
  { promotes }: { promotes: boolean },
): Change {
  let change = promote(before, at);
  let rest = bytes;
  // One round per bundle is enough: each round counts all remaining bytes or depletes a bundle.
  for (const _ of before.bundles) {
    if (rest <= 0) break;
    const taker = activeOf(change) ?? lastOf(change);
    if (!taker) break;
    const taken = Math.min(rest, roomIn(taker, change));
    change = fill(change, taker, { bytes: taken, at });
    rest -= taken;
    // A late record may be older than the bundle it fills; the next bundle must not start before that one.
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
    // Clamped to what JSON can represent exactly.
    used_bytes: Math.min(before.used_bytes + bytes, Number.MAX_SAFE_INTEGER),
    as_of: laterOf(at, before.as_of),
  };
  const events: BundleEvent[] = levelsCrossed(before, bundle).map((percent) => ({
    type: 'bundle.usage_threshold',
    bundle,
    percent,
  }));
  const isUsedUp = bundle.data_bytes !== null && bundle.used_bytes >= bundle.data_bytes;
  if (!isUsedUp || !canTransition('deplete', bundle.status)) return withBundle(change, bundle, events);
  const depleted = transitioned(bundle, 'deplete');
  return withBundle(change, depleted, [...events, { type: 'bundle.depleted', bundle: depleted }]);
}

/** Ascending. Each level is crossed once, since usage only grows. */
function levelsCrossed(before: BundleRow, after: BundleRow): number[] {
  const crossed = after.thresholds.filter(
    (percent) => hasReached(after, percent) && !hasReached(before, percent),
  );
  return crossed.length > 1 ? [...new Set(crossed)].sort((a, b) => a - b) : crossed;
}

/** Compares exactly: bytes times 100 may exceed the safe integers, and only then is `BigInt` used. */
function hasReached({ used_bytes, data_bytes }: BundleRow, percent: number): boolean {
  if (data_bytes === null) return false;
  const [used, level] = [used_bytes * 100, data_bytes * percent];
  if (Number.isSafeInteger(used) && Number.isSafeInteger(level)) return used >= level;
  return BigInt(used_bytes) * 100n >= BigInt(data_bytes) * BigInt(percent);
}

function laterOf(at: Date, other: Date | null): Date {
  return other && other > at ? other : at;
}
