import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { applyChange } from './apply.ts';
import { noChange } from './change.ts';
import { passTime, promote } from './queue.ts';
import { type Holder, readBundles } from './sql.ts';

/**
 * Lets the oldest queued bundle begin at `at` when the eSIM is active and has no active one; else nothing. Due after
 * whatever makes an eSIM active: an attach, a resume, a top-up. The caller holds the eSIM's lock.
 */
export async function promoteBundle(
  tx: Queryable,
  esim: Holder,
  at: Date,
  means: { clock: Clock; newUuid: NewUuid; executionId?: string },
): Promise<void> {
  if (esim.status !== 'active') return;
  const bundles = await readBundles(tx, [esim]);
  const current = passTime(noChange(bundles), new Date(means.clock.nowMs()), { promotes: true });
  await applyChange(tx, bundles, promote(current, at), means);
}
