import { idPrefixes } from '@simplane/contract';
import { type Clock, unixSeconds } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { type NewEvent, newEvent } from '../events/new-event.ts';
import { idOfUuid } from '../ids/uuid.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { type Change, cancelAll, type Happening, noChange, passTime, promote } from './plan.ts';
import { type BundleRow, type Holder, readBundles, updateBundles } from './sql.ts';

/**
 * Starts the oldest queued bundle at `at` when the eSIM is active and has no active bundle; otherwise does nothing. To call
 * after whatever makes an eSIM active (an attach, a resume) and after a top-up. The caller holds the eSIM's lock.
 */
export async function promoteBundle(
  tx: Queryable,
  esim: Holder,
  at: Date,
  deps: { clock: Clock; newUuid: NewUuid; executionId?: string },
): Promise<void> {
  if (esim.status !== 'active') return;
  const bundles = await readBundles(tx, [esim]);
  const current = passTime(noChange(bundles), new Date(deps.clock.nowMs()), { promotes: true });
  await applyChange(tx, bundles, promote(current, at), deps);
}

/** Cancels what is queued or active, when the eSIM ends. The caller holds the eSIM's lock. */
export async function cancelBundles(
  tx: Queryable,
  esim: Pick<Holder, 'account_id' | 'iccid'>,
  deps: { newUuid: NewUuid; executionId: string },
): Promise<void> {
  const bundles = await readBundles(tx, [esim]);
  await applyChange(tx, bundles, cancelAll(noChange(bundles)), deps);
}

/** The bundles of each of these eSIMs, oldest first. The caller holds the eSIMs' locks. */
export async function bundlesByEsim(
  tx: Queryable,
  holders: readonly Pick<Holder, 'account_id' | 'iccid'>[],
): Promise<Map<string, BundleRow[]>> {
  const groups = new Map<string, BundleRow[]>();
  for (const bundle of await readBundles(tx, holders)) {
    const group = groups.get(bundle.iccid);
    if (group) group.push(bundle);
    else groups.set(bundle.iccid, [bundle]);
  }
  return groups;
}

/** Writes a change that was decided over bundles read under their eSIM's lock, with its events. */
export async function applyChange(
  tx: Queryable,
  before: readonly BundleRow[],
  { bundles, happenings }: Change,
  /** `executionId` when an order caused it. */
  deps: { newUuid: NewUuid; executionId?: string },
): Promise<void> {
  await writeBundles(tx, before, bundles);
  await emit(
    tx,
    happenings.map((happening) => eventOf(deps, happening)),
  );
}

/** Writes the bundles that changed. */
export async function writeBundles(
  tx: Queryable,
  before: readonly BundleRow[],
  after: readonly BundleRow[],
): Promise<void> {
  const old = new Map(before.map((bundle) => [bundle.id, bundle]));
  const changes = after.flatMap((row) => {
    const was = old.get(row.id);
    return was && was !== row ? [{ from: was.status, row }] : [];
  });
  if (changes.length > 0 && (await updateBundles(tx, changes)) !== changes.length) {
    throw new Error('a bundle changed although its eSIM is locked');
  }
}

export function eventOf(deps: { newUuid: NewUuid; executionId?: string }, happening: Happening): NewEvent {
  return newEvent(deps, {
    accountUuid: happening.bundle.account_id,
    type: happening.type,
    data: { ...dataOf(happening), ...(deps.executionId && { execution_id: deps.executionId }) },
  });
}

function dataOf(happening: Happening): Record<string, unknown> {
  const { bundle } = happening;
  const ids = {
    iccid: bundle.iccid,
    bundle_id: idOfUuid(idPrefixes.bundle, bundle.id),
    product_id: bundle.product_id,
  };
  const usage = { used_bytes: bundle.used_bytes, data_bytes: bundle.data_bytes };
  switch (happening.type) {
    case 'bundle.activated':
      return { ...ids, expires_at: bundle.expires_at && unixSeconds(bundle.expires_at) };
    case 'bundle.usage_threshold':
      return { ...ids, threshold_percent: happening.percent, ...usage };
    case 'bundle.depleted':
    case 'bundle.expired':
      return { ...ids, ...usage };
    case 'bundle.canceled':
      return ids;
  }
}
