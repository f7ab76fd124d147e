import type { EsimStatus, RejectionReason, UsageRecord } from '@simplane/contract';
import { emit } from '../../notify/events/emit.ts';
import { type NewEvent, newEvent } from '../../notify/events/new-event.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { NewUuid } from '../../platform/ids/uuid-v7.ts';
import { bundlesByEsim, eventOf, groupByEsim, writeBundles } from '../bundles/write.ts';
import { isTooOld, observedAt } from './observed-at.ts';
import { planUsage, type UsageEvent } from './plan-usage.ts';
import { type CarriedEsim, findUnready, insertUsageRecords, lockCarried, updateCarried } from './sql.ts';

type Deps = { clock: Clock; newUuid: NewUuid; usageMaxAgeMs: number };

/** The account whose eSIMs may be charged; null for all accounts. */
type Options = { ofAccount: string | null };

type Taken = {
  accepted: number;
  rejected: { index: number; reason: RejectionReason }[];
  /** Accounts that have new events. */
  accountsWithEvents: ReadonlySet<string>;
};

/**
 * Counts usage records with a fixed number of statements. The result is the same as one by one in time order. eSIMs are
 * always locked in the same order, so that overlapping batches never deadlock.
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
  const rejected = records.flatMap(({ iccid, at }, index) => {
    const reason =
      rejectionReason(unready.has(iccid) ? 'provisioning' : esims.get(iccid)?.status) ??
      (isTooOld(at, deps) ? 'too_old' : null);
    return reason ? [{ index, reason }] : [];
  });
  const rejectedIndexes = new Set(rejected.map(({ index }) => index));
  const countable = records.filter((_, index) => !rejectedIndexes.has(index));
  const fresh = groupByEsim(await storeNew(tx, inOrder(countable)));
  const now = new Date(deps.clock.nowMs());
  const accountsWithEvents = await apply(tx, fresh, esims, { now, ...deps });
  const accepted = [...fresh.values()].reduce((sum, { length }) => sum + length, 0);
  return { accepted, rejected, accountsWithEvents };
}

function rejectionReason(status: EsimStatus | undefined): RejectionReason | null {
  switch (status) {
    case undefined:
      return 'esim_unknown';
    case 'provisioning':
      return 'esim_not_ready';
    case 'terminated':
    case 'failed':
      return 'esim_ended';
    default:
      return null;
  }
}

/** Sorts by eSIM, then by time, and drops duplicate ids. Records of the same time keep their order in the request. */
function inOrder(records: readonly UsageRecord[]): UsageRecord[] {
  const sorted = [...records].sort((a, b) =>
    a.iccid === b.iccid ? a.at - b.at : a.iccid < b.iccid ? -1 : 1,
  );
  let iccid = '';
  let ids = new Set<string>();
  return sorted.filter((record) => {
    if (record.iccid !== iccid) [iccid, ids] = [record.iccid, new Set()];
    return !ids.has(record.record_id) && ids.add(record.record_id);
  });
}

/** Returns the records that were not stored before. The caller holds their eSIMs' locks. */
async function storeNew(tx: Queryable, records: readonly UsageRecord[]): Promise<readonly UsageRecord[]> {
  if (records.length === 0) return records;
  const seen = new Set(await insertUsageRecords(tx, records));
  return records.filter((_, index) => !seen.has(index));
}

/** Plans the change of each eSIM, then writes all of them at once. */
async function apply(
  tx: Queryable,
  fresh: ReadonlyMap<string, UsageRecord[]>,
  esims: ReadonlyMap<string, CarriedEsim>,
  { now, newUuid }: { now: Date; newUuid: NewUuid },
): Promise<ReadonlySet<string>> {
  const charged = [...fresh.keys()].map((iccid) => esims.get(iccid) as CarriedEsim);
  if (charged.length === 0) return new Set();
  const bundles = await bundlesByEsim(tx, charged);
  const events: NewEvent[] = [];
  const changes: { from: EsimStatus; to: CarriedEsim }[] = [];
  const before = [...bundles.values()].flat();
  const after: typeof before = [];
  for (const esim of charged) {
    const usage = (fresh.get(esim.iccid) ?? []).map(({ bytes, at, country = null }) => ({
      bytes,
      at: observedAt(at, now.getTime()),
      country,
    }));
    const plan = planUsage(esim, bundles.get(esim.iccid) ?? [], usage, now);
    after.push(...plan.bundles);
    for (const event of plan.events) events.push(eventFor({ newUuid }, esim, event));
    const { status, country, country_observed_at } = plan;
    if (status !== esim.status || country_observed_at !== esim.country_observed_at) {
      changes.push({ from: esim.status, to: { ...esim, status, country, country_observed_at } });
    }
  }
  await writeBundles(tx, before, after);
  if (changes.length > 0 && (await updateCarried(tx, changes)) !== changes.length) {
    throw new Error('an eSIM changed although it is locked');
  }
  await emit(tx, events);
  return new Set(events.map(({ accountUuid }) => accountUuid));
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
    default:
      return eventOf(deps, event);
  }
}
