import { idPrefixes } from '@simplane/contract';
import { emit } from '../../notify/events/emit.ts';
import { type NewEvent, newEvent } from '../../notify/events/new-event.ts';
import { unixSeconds } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { NewUuid, TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { type BundleEvent, type Change, cancelAll, expireDue, noChange, promote } from './plan.ts';
import { type BundledEsim, type BundleRow, readBundles, updateBundles } from './sql.ts';
import type { BundleChange } from './update-from.ts';

/**
 * Activates the oldest queued bundle that covers the eSIM's country, if the eSIM is active and no active bundle does. Call it after
 * anything that makes an eSIM active (an attach, a resume) and after a top-up. The caller holds the eSIM's lock.
 */
export async function promoteBundle(
  tx: Queryable,
  esim: BundledEsim,
  at: Date,
  deps: TimeAndIds & { executionId?: string },
): Promise<void> {
  if (esim.status !== 'active') return;
  const bundles = await readBundles(tx, [esim]);
  const { country } = esim;
  const current = expireDue(noChange(bundles), new Date(deps.clock.nowMs()), { promotes: true, country });
  await applyChange(tx, bundles, promote(current, at, country), deps);
}

/** Cancels the queued and active bundles of an eSIM that ends. The caller holds the eSIM's lock. */
export async function cancelBundles(
  tx: Queryable,
  esim: Pick<BundledEsim, 'account_id' | 'iccid'>,
  deps: { newUuid: NewUuid; executionId: string },
): Promise<void> {
  const bundles = await readBundles(tx, [esim]);
  await applyChange(tx, bundles, cancelAll(noChange(bundles)), deps);
}

/** The bundles of each eSIM by ICCID, oldest first. The caller holds the eSIMs' locks. */
export async function bundlesByEsim(
  tx: Queryable,
  esims: readonly Pick<BundledEsim, 'account_id' | 'iccid'>[],
): Promise<Map<string, BundleRow[]>> {
  return groupByEsim(await readBundles(tx, esims));
}

export function groupByEsim<Row extends { iccid: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.iccid);
    if (group) group.push(row);
    else groups.set(row.iccid, [row]);
  }
  return groups;
}

/** Writes a change and its events. `before` was read under the eSIM's lock. */
export async function applyChange(
  tx: Queryable,
  before: readonly BundleRow[],
  { bundles, events }: Change,
  /** `executionId` if an order caused the change. */
  deps: { newUuid: NewUuid; executionId?: string },
): Promise<void> {
  await writeBundles(tx, before, bundles);
  await emit(
    tx,
    events.map((event) => eventOf(deps, event)),
  );
}

export async function writeBundles(
  tx: Queryable,
  before: readonly BundleRow[],
  after: readonly BundleRow[],
): Promise<void> {
  const changes = changesOf(before, after);
  if (changes.length > 0 && (await updateBundles(tx, changes)) !== changes.length) {
    throw new Error('a bundle changed although its eSIM is locked');
  }
}

/** The bundles that have a new version. */
export function changesOf(before: readonly BundleRow[], after: readonly BundleRow[]): BundleChange[] {
  const old = new Map(before.map((bundle) => [bundle.id, bundle]));
  return after.flatMap((row) => {
    const was = old.get(row.id);
    return was && was !== row ? [{ from: was.status, row }] : [];
  });
}

export function eventOf(deps: { newUuid: NewUuid; executionId?: string }, event: BundleEvent): NewEvent {
  return newEvent(deps, {
    accountUuid: event.bundle.account_id,
    type: event.type,
    data: { ...dataOf(event), ...(deps.executionId && { execution_id: deps.executionId }) },
    reference: event.bundle.reference,
  });
}

function dataOf(event: BundleEvent): Record<string, unknown> {
  const { bundle } = event;
  const ids = {
    iccid: bundle.iccid,
    bundle_id: idOfUuid(idPrefixes.bundle, bundle.id),
    product_id: bundle.product_id,
  };
  const usage = { used_bytes: bundle.used_bytes, data_bytes: bundle.data_bytes };
  switch (event.type) {
    case 'bundle.activated':
      return { ...ids, expires_at: bundle.expires_at && unixSeconds(bundle.expires_at) };
    case 'bundle.usage_threshold':
      return { ...ids, threshold_percent: event.percent, ...usage };
    case 'bundle.depleted':
    case 'bundle.expired':
      return { ...ids, ...usage };
    case 'bundle.canceled':
      return ids;
  }
}
