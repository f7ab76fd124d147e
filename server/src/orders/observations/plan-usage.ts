import type { EsimStatus, RejectionReason } from '@simplane/contract';
import { bytesAt, countUsage, late, type Parts, recountUsage, uncovered } from '../bundles/count-usage.ts';
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
type CountedRecord = { record: Usage; country: string | null; parts: Parts };

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
  counted: CountedRecord[];
  /** `counted` by id. Filled when the first correction is met: few batches have one. */
  byId: Map<string, CountedRecord> | null;
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
    counted: [],
    byId: null,
    corrected: new Map(),
    rejected: [],
  };
  for (const record of records) {
    const reason = record.corrects === null ? null : refuseCorrection(state, record.corrects, options);
    if (reason) state.rejected.push({ id: record.id, reason });
    else count(state, record, options);
  }
  const { esim, events, counted, rejected } = state;
  const corrected = [...state.corrected].map(([id, by]) => ({ id, by }));
  return { esim, bundles: state.bundles, events, counted, corrected, rejected };
}

function countedById(state: State): Map<string, CountedRecord> {
  state.byId ??= new Map(state.counted.map((one) => [one.record.id, one]));
  return state.byId;
}

function refuseCorrection(state: State, id: string, { known }: Options): RejectionReason | null {
  if (state.corrected.has(id) || known.get(id)?.isCorrected) return 'already_corrected';
  return countedById(state).has(id) || known.get(id)?.parts ? null : 'record_unknown';
}

function count(state: State, record: Usage, options: Options): void {
  const { esim } = state;
  const old = record.corrects === null ? null : takeOut(state, record.corrects, record.id, options);
  const country = record.country ?? old?.country ?? null;
  const given = country === record.country ? record : { ...record, country };
  const parts =
    esim.status === 'terminated'
      ? countLate(state, given, old?.parts ?? none)
      : countOnBundles(state, given, old?.parts ?? null, options);
  const one = { record, country: country ?? esim.country, parts };
  state.counted.push(one);
  state.byId?.set(record.id, one);
  const gained = bytesAt(parts, uncovered) - bytesAt(old?.parts ?? none, uncovered);
  if (gained !== 0) esim.uncovered_bytes = clamped(esim.uncovered_bytes + gained);
  if (gained > 0) tellUncovered(state, one.country, options.now);
  const gainedLate = bytesAt(parts, late) - bytesAt(old?.parts ?? none, late);
  if (gainedLate !== 0) esim.late_bytes = clamped(esim.late_bytes + gainedLate);
}

const none: Parts = [];

/** To what JSON can represent exactly. */
function clamped(bytes: number): number {
  return Math.min(Math.max(bytes, 0), Number.MAX_SAFE_INTEGER);
}

/** Marks a record as replaced, and returns where it was counted. */
function takeOut(
  state: State,
  id: string,
  by: string,
  { known }: Options,
): { country: string | null; parts: Parts } {
  state.corrected.set(id, by);
  return countedById(state).get(id) ?? (known.get(id) as KnownRecord & { parts: Parts });
}

/** The eSIM has ended: the record is kept for the books, and nobody is told. */
function countLate(state: State, { bytes }: Usage, old: Parts): Parts {
  if (old.length > 0) {
    state.bundles = state.bundles.map((bundle) => {
      const taken = bytesAt(old, bundle.id);
      return taken > 0 ? { ...bundle, used_bytes: bundle.used_bytes - taken } : bundle;
    });
  }
  return [{ place: late, bytes }];
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
  for (const event of events) state.events.push(event);
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
