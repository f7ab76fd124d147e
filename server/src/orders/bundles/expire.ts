import type { CoreMode } from '../../network/core-mode.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { writeService } from '../service/write.ts';
import { expireActive, expireDue, noChange, promote } from './plan.ts';
import { type BundledEsim, lockEsimsWithExpiredBundle, readBundles } from './sql.ts';
import { applyChange, bundlesByEsim } from './write.ts';

type Deps = TimeAndIds & { core: CoreMode };

type Batch = { locked: number; expired: number; accountUuids: string[] };

// Small, so that a batch does not lock its eSIMs for long.
const batchSize = 100;

/** Expires the bundles that are due and activates the next ones. Several processes may run it at once. */
export async function expireBundles(
  db: Database,
  deps: Deps & Announcing,
  stopping?: AbortSignal,
): Promise<number> {
  let expired = 0;
  while (!stopping?.aborted) {
    const batch = await db.transaction((tx) => expireBatch(tx, deps));
    for (const accountUuid of new Set(batch.accountUuids)) deps.signals.announce('deliveries', accountUuid);
    expired += batch.expired;
    if (batch.locked < batchSize) break;
  }
  return expired;
}

async function expireBatch(tx: Queryable, deps: Deps): Promise<Batch> {
  const now = new Date(deps.clock.nowMs());
  const locked = await lockEsimsWithExpiredBundle(tx, now, batchSize);
  if (locked.length === 0) return { locked: 0, expired: 0, accountUuids: [] };
  // An eSIM is there once for each of its bundles that have expired.
  const esims = [...new Map(locked.map((esim) => [esim.iccid, esim])).values()];
  const bundles = await bundlesByEsim(tx, esims);
  const changes = esims.map(({ iccid, status, country }) =>
    expireDue(noChange(bundles.get(iccid) ?? []), now, { promotes: status === 'active', country }),
  );
  const change = {
    bundles: changes.flatMap((one) => one.bundles),
    events: changes.flatMap((one) => one.events),
  };
  await applyChange(tx, [...bundles.values()].flat(), change, deps);
  const served = esims.map((esim, index) => ({ esim, bundles: changes[index]?.bundles ?? [] }));
  await writeService(tx, served, deps);
  const expired = change.events.filter(({ type }) => type === 'bundle.expired').length;
  return { locked: locked.length, expired, accountUuids: esims.map((esim) => esim.account_id) };
}

/** Expires an active bundle early, for the sandbox. False if there is none. The caller holds the eSIM's lock. */
export async function expireActiveBundle(
  tx: Queryable,
  esim: BundledEsim,
  at: Date,
  deps: Deps,
): Promise<boolean> {
  const bundles = await readBundles(tx, [esim]);
  const { country } = esim;
  const before = noChange(bundles);
  const expired = expireActive(before, at, country);
  if (expired === before) return false;
  const change = esim.status === 'active' ? promote(expired, at, country) : expired;
  await applyChange(tx, bundles, change, deps);
  await writeService(tx, [{ esim, bundles: change.bundles }], deps);
  return true;
}
