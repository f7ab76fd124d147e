import { activeOf, type BundleEvent, type Change, noChange, promote, withBundle } from './plan.ts';
import type { BundleRow } from './sql.ts';
import { canTransition, transitioned } from './state.ts';

/** `country` is null if unknown: then every bundle covers it. */
type Usage = { bytes: number; at: Date; country: string | null };

/** Where bytes were counted: the id of a bundle, or a place on the eSIM itself. */
export type Place = string;

/** For what no bundle covered, or no bundle had room for. */
export const uncovered: Place = 'uncovered';
/** For what was reported after the eSIM's termination. */
export const late: Place = 'late';

/** How many bytes of a record were counted where: each place once. They add up to the record. */
export type Parts = readonly { place: Place; bytes: number }[];

/** How many of a record's bytes were counted in this place. */
export function bytesAt(parts: Parts, place: Place): number {
  for (const part of parts) if (part.place === place) return part.bytes;
  return 0;
}

/** Usage counted on bundles. `parts` includes what went to no bundle. */
type Counted = { change: Change; parts: Parts };

/**
 * Counts bytes on bundles that cover the country: on the active one that expires first, then on the next, and on queued ones,
 * which it activates. The rest is uncovered. No bundle gets more than its size.
 */
export function countUsage(
  before: Change,
  { bytes, at, country }: Usage,
  { promotes }: { promotes: boolean },
): Counted {
  let change = promote(before, at, country);
  let [rest, from] = [bytes, at];
  const parts: { place: Place; bytes: number }[] = [];
  while (rest > 0) {
    const taker = activeOf(change, country);
    if (!taker) {
      parts.push({ place: uncovered, bytes: rest });
      break;
    }
    const taken = Math.min(rest, roomIn(taker));
    change = fill(change, taker, { bytes: taken, at });
    if (taken > 0) parts.push({ place: taker.id, bytes: taken });
    rest -= taken;
    // A late record may be older than the bundle it fills; the next bundle must not start before that one.
    from = laterOf(from, taker.activated_at);
    if (rest > 0 || promotes) change = promote(change, from, country);
  }
  return { change, parts };
}

function roomIn({ data_bytes, used_bytes }: BundleRow): number {
  return data_bytes === null ? Number.POSITIVE_INFINITY : Math.max(data_bytes - used_bytes, 0);
}

function fill(change: Change, before: BundleRow, { bytes, at }: Pick<Usage, 'bytes' | 'at'>): Change {
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

/** Takes a record's bytes off the bundles that counted them, and counts the amount that replaces it. */
export function recountUsage(
  before: Change,
  parts: Parts,
  usage: Usage,
  { promotes, now }: { promotes: boolean; now: Date },
): Counted {
  const lowered = before.bundles.map((bundle) => takeBack(bundle, bytesAt(parts, bundle.id), now));
  const counted = countUsage(noChange(lowered), usage, { promotes });
  const wasDepleted = (id: string) => before.bundles.some((b) => b.id === id && b.status === 'depleted');
  const events = counted.change.events.filter(
    ({ type, bundle }) => type !== 'bundle.depleted' || !wasDepleted(bundle.id),
  );
  const restored = counted.change.bundles
    .filter(({ id, status }) => status === 'active' && wasDepleted(id))
    .map((bundle): BundleEvent => ({ type: 'bundle.activated', bundle }));
  const change = { bundles: counted.change.bundles, events: [...before.events, ...restored, ...events] };
  return { change, parts: counted.parts };
}

/** A depleted bundle that has data left again is active, unless it has expired meanwhile. */
function takeBack(before: BundleRow, bytes: number, now: Date): BundleRow {
  if (bytes === 0) return before;
  const used_bytes = Math.max(before.used_bytes - bytes, 0);
  const most_used_bytes = mostUsed(before);
  const bundle = { ...before, used_bytes, most_used_bytes };
  const isOpen = before.expires_at !== null && before.expires_at > now;
  const canRestore = canTransition('restore', before.status) && isOpen && roomIn(bundle) > 0;
  return canRestore ? transitioned(bundle, 'restore') : bundle;
}

/** The highest usage so far: a correction may have lowered it, and a threshold is told once. */
function mostUsed({ used_bytes, most_used_bytes }: BundleRow): number {
  return Math.max(used_bytes, most_used_bytes ?? 0);
}

/** Ascending. */
function levelsCrossed(before: BundleRow, after: BundleRow): number[] {
  const known = mostUsed(before);
  const { used_bytes, data_bytes } = after;
  const crossed = after.thresholds.filter(
    (percent) => hasReached(used_bytes, data_bytes, percent) && !hasReached(known, data_bytes, percent),
  );
  return crossed.length > 1 ? [...new Set(crossed)].sort((a, b) => a - b) : crossed;
}

/** Compares exactly: bytes times 100 may exceed the safe integers, and only then is `BigInt` used. */
function hasReached(used_bytes: number, data_bytes: number | null, percent: number): boolean {
  if (data_bytes === null) return false;
  const [used, level] = [used_bytes * 100, data_bytes * percent];
  if (Number.isSafeInteger(used) && Number.isSafeInteger(level)) return used >= level;
  return BigInt(used_bytes) * 100n >= BigInt(data_bytes) * BigInt(percent);
}

function laterOf(at: Date, other: Date | null): Date {
  return other && other > at ? other : at;
}
