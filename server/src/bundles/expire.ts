import type { Clock } from '../clock.ts';
import type { Database, Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { activeOf, expireActive, noChange, passTime, promote } from './plan.ts';
import { type Holder, lockHoldersDue, readBundles } from './sql.ts';
import { applyChange, bundlesByEsim } from './write.ts';

type Deps = { clock: Clock; newUuid: NewUuid };

// Small enough that a batch never holds its eSIMs for long.
const batchSize = 100;

/** Ends the bundles whose time is over and lets the next ones begin. Any number of processes may run it at once. */
export async function expireBundles(db: Database, deps: Deps, stopping?: AbortSignal): Promise<number> {
  let expired = 0;
  while (!stopping?.aborted) {
    const batch = await db.transaction((tx) => expireBatch(tx, deps));
    expired += batch.expired;
    if (batch.locked < batchSize) break;
  }
  return expired;
}

async function expireBatch(tx: Queryable, deps: Deps): Promise<{ locked: number; expired: number }> {
  const now = new Date(deps.clock.nowMs());
  const holders = await lockHoldersDue(tx, now, batchSize);
  if (holders.length === 0) return { locked: 0, expired: 0 };
  const bundles = await bundlesByEsim(tx, holders);
  const changes = holders.map(({ iccid, status }) =>
    passTime(noChange(bundles.get(iccid) ?? []), now, { promotes: status === 'active' }),
  );
  const change = {
    bundles: changes.flatMap((one) => one.bundles),
    happenings: changes.flatMap((one) => one.happenings),
  };
  await applyChange(tx, [...bundles.values()].flat(), change, deps);
  const expired = change.happenings.filter(({ type }) => type === 'bundle.expired').length;
  return { locked: holders.length, expired };
}

/** Ends the active bundle before its time, for the sandbox; false when there is none. The caller holds the eSIM's lock. */
export async function expireActiveBundle(
  tx: Queryable,
  esim: Holder,
  at: Date,
  deps: { newUuid: NewUuid },
): Promise<boolean> {
  const bundles = await readBundles(tx, [esim]);
  const before = noChange(bundles);
  if (!activeOf(before)) return false;
  const expired = expireActive(before, at);
  await applyChange(tx, bundles, esim.status === 'active' ? promote(expired, at) : expired, deps);
  return true;
}
