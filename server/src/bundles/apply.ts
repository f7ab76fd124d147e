import { idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { emit } from '../events/emit.ts';
import { type NewEvent, newEvent } from '../events/new-event.ts';
import { idOfUuid } from '../ids/uuid.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import type { Change, Happening } from './change.ts';
import { type BundleRow, updateBundles } from './sql.ts';

/** Writes what was decided over bundles as they were read under their eSIM's lock, and tells of it. */
export async function applyChange(
  tx: Queryable,
  before: readonly BundleRow[],
  { bundles, happenings }: Change,
  /** `executionId` when an order caused it. */
  means: { newUuid: NewUuid; executionId?: string },
): Promise<void> {
  await writeBundles(tx, before, bundles);
  await emit(
    tx,
    happenings.map((happening) => eventOf(means, happening)),
  );
}

/** Writes those that are no longer what they were. */
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

export function eventOf(means: { newUuid: NewUuid; executionId?: string }, happening: Happening): NewEvent {
  return newEvent(means, {
    accountUuid: happening.bundle.account_id,
    type: happening.type,
    data: { ...dataOf(happening), ...(means.executionId && { execution_id: means.executionId }) },
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
