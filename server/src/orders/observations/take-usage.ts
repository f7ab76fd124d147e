import type { RejectionReason, UsageOutcome, UsageRecord } from '@simplane/contract';
import type { CoreMode } from '../../network/core-mode.ts';
import { emit } from '../../notify/events/emit.ts';
import { type NewEvent, newEvent } from '../../notify/events/new-event.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import { bundlesByEsim, changesOf, eventOf, groupByEsim } from '../bundles/write.ts';
import { writeService } from '../service/write.ts';
import { isTooOld, observedAt, sinceOrder } from './observed-at.ts';
import { type KnownRecord, planUsage, type UsageEvent, type UsagePlan } from './plan-usage.ts';
import { type CarriedEsim, findUnready, lockCarried } from './sql.ts';
import { findRecords, partsOf, type UsageWrite, writeUsage } from './usage-sql.ts';

type Deps = { clock: Clock; newUuid: NewUuid; core: CoreMode; usageMaxAgeMs: number };

/** The account whose eSIMs may be charged; null for all accounts. */
type Options = { ofAccount: string | null };

type Taken = {
  /** Of each record, in the order of the request. */
  outcomes: UsageOutcome[];
  /** Accounts that have new events. */
  accountsWithEvents: ReadonlySet<string>;
};

/**
 * Counts usage records with a fixed number of statements. eSIMs are always locked in the same order, so that overlapping batches
 * never deadlock.
 */
export async function takeUsage(
  tx: Queryable,
  records: readonly UsageRecord[],
  { ofAccount }: Options,
  deps: Deps,
): Promise<Taken> {
  const iccids = [...new Set(records.map(({ iccid }) => iccid))];
  const esims = new Map((await lockCarried(tx, iccids, ofAccount)).map((esim) => [esim.iccid, esim]));
  const missing = iccids.filter((iccid) => !esims.has(iccid));
  const unready = new Set(missing.length > 0 ? await findUnready(tx, missing, ofAccount) : []);
  const refused = new Map<number, RejectionReason>();
  const countable: UsageRecord[] = [];
  for (const [index, record] of records.entries()) {
    const reason = unready.has(record.iccid)
      ? 'esim_not_ready'
      : (rejectionReason(esims.get(record.iccid), record) ?? (isTooOld(record.at, deps) ? 'too_old' : null));
    if (reason) refused.set(index, reason);
    else countable.push(record);
  }
  const planned = await plan(tx, inOrder(countable), esims, new Date(deps.clock.nowMs()));
  const events = await write(tx, planned, deps);
  return {
    outcomes: outcomesOf(records, refused, planned),
    accountsWithEvents: new Set(events.map(({ accountUuid }) => accountUuid)),
  };
}

function rejectionReason(esim: CarriedEsim | undefined, { at }: UsageRecord): RejectionReason | null {
  switch (esim?.status) {
    case undefined:
      return 'esim_unknown';
    case 'provisioning':
      return 'esim_not_ready';
    case 'failed':
      return 'esim_ended';
    case 'terminated':
      return esim?.terminated_at && at * 1000 <= esim.terminated_at.getTime() ? null : 'esim_ended';
    default:
      return null;
  }
}

/**
 * Sorts by eSIM, then by time, and drops duplicate ids. Records of the same time keep their order in the request; corrections
 * follow the other records of their eSIM, in the order of the request.
 */
function inOrder(records: readonly UsageRecord[]): UsageRecord[] {
  const timeOf = ({ corrects, at }: UsageRecord) => (corrects === undefined ? at : Number.MAX_SAFE_INTEGER);
  const sorted = [...records].sort((a, b) =>
    a.iccid === b.iccid ? timeOf(a) - timeOf(b) : a.iccid < b.iccid ? -1 : 1,
  );
  let iccid = '';
  let ids = new Set<string>();
  return sorted.filter((record) => {
    if (record.iccid !== iccid) [iccid, ids] = [record.iccid, new Set()];
    return !ids.has(record.record_id) && ids.add(record.record_id);
  });
}

type Planned = { esim: CarriedEsim; before: Parameters<typeof planUsage>[1]; plan: UsagePlan };

/** Decides, in memory, what the records that were not counted before change of each eSIM. The caller holds the eSIMs' locks. */
async function plan(
  tx: Queryable,
  records: readonly UsageRecord[],
  esims: ReadonlyMap<string, CarriedEsim>,
  now: Date,
): Promise<Planned[]> {
  if (records.length === 0) return [];
  const stored = await readKnown(tx, records);
  const isFresh = ({ iccid, record_id }: UsageRecord) => !stored.get(iccid)?.has(record_id);
  const fresh = groupByEsim(stored.size === 0 ? records : records.filter(isFresh));
  const charged = [...fresh.keys()].map((iccid) => esims.get(iccid) as CarriedEsim);
  const bundles = charged.length > 0 ? await bundlesByEsim(tx, charged) : new Map<string, never>();
  return charged.map((esim) => {
    const before = bundles.get(esim.iccid) ?? [];
    const given = (fresh.get(esim.iccid) ?? []).map(({ record_id, bytes, at, country, corrects }) => ({
      id: record_id,
      bytes,
      at: sinceOrder(observedAt(at, now.getTime()), esim),
      country: esim.erased_at ? null : (country ?? null),
      corrects: corrects ?? null,
    }));
    const known = stored.get(esim.iccid) ?? new Map<string, KnownRecord>();
    return { esim, before, plan: planUsage(esim, before, given, { now, known }) };
  });
}

/** Of these records and those that they correct, the ones that were counted before, by ICCID and id. */
async function readKnown(
  tx: Queryable,
  records: readonly UsageRecord[],
): Promise<Map<string, Map<string, KnownRecord>>> {
  const corrected = records.flatMap(({ iccid, corrects }) =>
    corrects === undefined ? [] : [{ iccid, record_id: corrects }],
  );
  const known = new Map<string, Map<string, KnownRecord>>();
  for (const [iccid, rows] of groupByEsim(await findRecords(tx, [...records, ...corrected]))) {
    const ofEsim = rows.map(
      (row) =>
        [
          row.record_id,
          { country: row.country, parts: partsOf(row), isCorrected: row.corrected_by !== null },
        ] as const,
    );
    known.set(iccid, new Map(ofEsim));
  }
  return known;
}

function outcomesOf(
  records: readonly UsageRecord[],
  refused: ReadonlyMap<number, RejectionReason>,
  planned: readonly Planned[],
): UsageOutcome[] {
  const fresh = new Map(
    planned.map(({ esim, plan: { counted, rejected } }) => {
      const outcomes = new Map<string, UsageOutcome>(rejected.map(({ id, reason }) => [id, reason]));
      for (const { record } of counted) outcomes.set(record.id, 'accepted');
      return [esim.iccid, outcomes];
    }),
  );
  return records.map(({ iccid, record_id }, index) => {
    const reason = refused.get(index);
    if (reason) return reason;
    const outcomes = fresh.get(iccid);
    const outcome = outcomes?.get(record_id) ?? 'duplicate';
    outcomes?.delete(record_id); // a repetition within the request is a duplicate
    return outcome;
  });
}

/** Writes all plans at once. Returns the events. */
async function write(tx: Queryable, planned: readonly Planned[], deps: Deps): Promise<NewEvent[]> {
  const given: UsageWrite = {
    records: planned.flatMap(newRecordsOf),
    corrected: planned.flatMap(({ esim: { iccid }, plan: { corrected } }) =>
      corrected.map(({ id, by }) => ({ iccid, record_id: id, by })),
    ),
    esims: planned.flatMap(({ esim, plan: { esim: to } }) =>
      isSame(esim, to) ? [] : [{ from: esim.status, to: { ...esim, ...to } }],
    ),
    bundles: planned.flatMap(({ before, plan: { bundles } }) => changesOf(before, bundles)),
  };
  if (given.records.length > 0) await writeUsage(tx, given);
  const events = planned.flatMap(({ esim, plan }) => plan.events.map((event) => eventFor(deps, esim, event)));
  await emit(tx, events);
  const served = planned.map(({ esim, plan }) => ({
    esim: { ...esim, ...plan.esim },
    bundles: plan.bundles,
  }));
  await writeService(tx, served, deps);
  return events;
}

function newRecordsOf({
  esim: { account_id: accountUuid, iccid },
  plan: { counted, corrected },
}: Planned): UsageWrite['records'] {
  // Those that a correction in the same batch replaces.
  const replaced = new Map(corrected.map(({ id, by }) => [id, by]));
  return counted.map(({ record: { id, bytes, at }, country, parts }) => {
    const by = replaced.get(id);
    return by === undefined
      ? { accountUuid, iccid, id, bytes, at, country, parts, correctedBy: null }
      : { accountUuid, iccid, id, bytes: 0, at, country, parts: [], correctedBy: by };
  });
}

const changeable = [
  'status',
  'country',
  'country_observed_at',
  'uncovered_bytes',
  'late_bytes',
  'not_covered_on',
  'not_covered_in',
] as const;

function isSame(before: UsagePlan['esim'], after: UsagePlan['esim']): boolean {
  return changeable.every((name) => before[name] === after[name]);
}

function eventFor(deps: { newUuid: NewUuid }, esim: CarriedEsim, event: UsageEvent): NewEvent {
  const ids = { iccid: esim.iccid, product_id: esim.product_id };
  const { account_id: accountUuid, reference } = esim;
  switch (event.type) {
    case 'esim.activated':
      return newEvent(deps, { accountUuid, type: event.type, data: ids, reference });
    case 'esim.country_changed': {
      const { country, previousCountry } = event;
      const data = { ...ids, country, previous_country: previousCountry };
      return newEvent(deps, { accountUuid, type: event.type, data, reference });
    }
    case 'esim.usage_not_covered': {
      const { country, uncoveredBytes } = event;
      const data = { ...ids, ...(country !== null && { country }), uncovered_bytes: uncoveredBytes };
      return newEvent(deps, { accountUuid, type: event.type, data, reference });
    }
    default:
      return eventOf(deps, event);
  }
}
