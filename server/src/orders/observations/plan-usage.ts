import type { EsimStatus, RejectionReason } from '@simplane/contract';
import { countUsage, late, type Parts, type Place, recountUsage, uncovered } from '../bundles/count-usage.ts';
import { type BundleEvent, type Change, expireDue, noChange, promote } from '../bundles/plan.ts';
import { canTransition } from '../esims/state.ts';

/** What usage can change of an eSIM. */
export type UsedEsim = {
  status: EsimStatus;
  country: string | null;
  country_observed_at: Date | null;
  uncovered_bytes: number;
  late_bytes: number;
  /** The day of the last `esim.usage_not_covered`, as YYYY-MM-DD in UTC, and the countries told on it. */
  not_covered_on: string | null;
  not_covered_in: string | null;
};

type Usage = {
  id: string;
  bytes: number;
  at: Date;
  country: string | null;
  /** Id of the record whose amount it replaces. */
  corrects: string | null;
};

/** A record that was counted before. `parts` is null if a release that did not store them has counted it. */
export type KnownRecord = {
  country: string | null;
  parts: Parts | null;
  isCorrected: boolean;
};

/** A record that counts now. `country` is the one that it was counted for. */
type CountedRecord = { id: string; country: string | null; parts: Parts };

export type UsagePlan = {
  esim: UsedEsim;
  bundles: Change['bundles'];
  events: readonly UsageEvent[];
  counted: readonly CountedRecord[];
  /** Records that counted before and no longer do, and the ids of those that replace them. */
  corrected: readonly { id: string; by: string }[];
  rejected: readonly { id: string; reason: RejectionReason }[];
};

export type UsageEvent =
  | BundleEvent
  | { type: 'esim.activated' }
  | { type: 'esim.country_changed'; country: string; previousCountry: string }
  | { type: 'esim.usage_not_covered'; country: string | null; uncoveredBytes: number };

type State = {
  esim: UsedEsim;
  bundles: Change['bundles'];
  events: UsageEvent[];
  counted: Map<string, CountedRecord>;
  corrected: Map<string, string>;
  rejected: { id: string; reason: RejectionReason }[];
};

type Options = { now: Date; known: ReadonlyMap<string, KnownRecord> };

/**
 * Counts records of one eSIM, oldest first, and then corrections in their order, without the database. Returns the new state, the
 * events in order and where each record was counted. Always true: the records add up to what the bundles, `uncovered_bytes` and
 * `late_bytes` have gained.
 */
export function planUsage(
  before: UsedEsim,
  bundles: Change['bundles'],
  records: readonly Usage[],
  options: Options,
): UsagePlan {
  const state: State = {
    esim: { ...before },
    bundles,
    events: [],
    counted: new Map(),
    corrected: new Map(),
    rejected: [],
  };
  for (const record of records) {
    const reason = record.corrects === null ? null : refuseCorrection(state, record.corrects, options);
    if (reason) state.rejected.push({ id: record.id, reason });
    else count(state, record, options);
  }
  return {
    ...state,
    counted: [...state.counted.values()],
    corrected: [...state.corrected].map(([id, by]) => ({ id, by })),
  };
}

function refuseCorrection(
  { counted, corrected }: State,
  id: string,
  { known }: Options,
): RejectionReason | null {
  if (corrected.has(id) || known.get(id)?.isCorrected) return 'already_corrected';
  return counted.has(id) || known.get(id)?.parts ? null : 'record_unknown';
}

function count(state: State, record: Usage, options: Options): void {
  const old = record.corrects === null ? null : takeOut(state, record.corrects, record.id, options);
  const given = { ...record, country: record.country ?? old?.country ?? null };
  const parts =
    state.esim.status === 'terminated'
      ? countLate(state, given, old?.parts ?? null)
      : countOnBundles(state, given, old?.parts ?? null, options);
  const place = given.country ?? state.esim.country;
  state.counted.set(record.id, { id: record.id, country: place, parts });
  const gained = (of: Place) => (parts[of] ?? 0) - (old?.parts[of] ?? 0);
  state.esim.uncovered_bytes = clamped(state.esim.uncovered_bytes + gained(uncovered));
  state.esim.late_bytes = clamped(state.esim.late_bytes + gained(late));
  if (gained(uncovered) > 0) tellUncovered(state, place, options.now);
}

/** To what JSON can represent exactly. */
function clamped(bytes: number): number {
  return Math.min(Math.max(bytes, 0), Number.MAX_SAFE_INTEGER);
}

/** Marks a record as replaced, and returns where it was counted. */
function takeOut(
  { counted, corrected }: State,
  id: string,
  by: string,
  { known }: Options,
): { country: string | null; parts: Parts } {
  const old = counted.get(id) ?? (known.get(id) as KnownRecord & { parts: Parts });
  corrected.set(id, by);
  return old;
}

/** The eSIM has ended: the record is kept for the books, and nobody is told. */
function countLate(state: State, { bytes }: Usage, old: Parts | null): Parts {
  if (old) {
    state.bundles = state.bundles.map((bundle) =>
      old[bundle.id] ? { ...bundle, used_bytes: bundle.used_bytes - (old[bundle.id] ?? 0) } : bundle,
    );
  }
  return { [late]: bytes };
}

/** A record with a country first counts as an attach. */
function countOnBundles(state: State, record: Usage, old: Parts | null, { now }: Options): Parts {
  const { esim } = state;
  if (canTransition('activate', esim.status)) {
    esim.status = 'active';
    state.events.push({ type: 'esim.activated' });
  }
  const promotes = esim.status === 'active';
  const country = record.country ?? esim.country;
  apply(state, expireDue(noChange(state.bundles), now, { promotes, country }));
  if (record.country !== null) {
    if (promotes) apply(state, promote(noChange(state.bundles), record.at, country));
    see(state, record.country, record.at);
  }
  const usage = { bytes: record.bytes, at: record.at, country };
  const before = noChange(state.bundles);
  const counted = old
    ? recountUsage(before, old, usage, { promotes, now })
    : countUsage(before, usage, { promotes });
  apply(state, counted.change);
  return counted.parts;
}

function apply(state: State, { bundles, events }: Change): void {
  state.bundles = bundles;
  state.events.push(...events);
}

/** Updates the country, unless a newer one is known. */
function see({ esim, events }: State, country: string, at: Date): void {
  if (esim.country_observed_at && at <= esim.country_observed_at) return;
  if (esim.country !== null && esim.country !== country) {
    events.push({ type: 'esim.country_changed', country, previousCountry: esim.country });
  }
  esim.country = country;
  esim.country_observed_at = at;
}

/** Tells of uncovered usage once per country and day. */
function tellUncovered({ esim, events }: State, country: string | null, now: Date): void {
  const today = now.toISOString().slice(0, 10);
  // Later than today if another process's clock is ahead.
  const isToday = esim.not_covered_on !== null && esim.not_covered_on >= today;
  const told = isToday ? (esim.not_covered_in ?? '').split(' ') : [];
  const name = country ?? 'unknown';
  if (told.includes(name)) return;
  if (!isToday) esim.not_covered_on = today;
  esim.not_covered_in = [...told, name].join(' ');
  events.push({ type: 'esim.usage_not_covered', country, uncoveredBytes: esim.uncovered_bytes });
}
