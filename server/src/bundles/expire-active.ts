import type { Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { applyChange } from './apply.ts';
import { activeOf, noChange } from './change.ts';
import { expireActive, promote } from './queue.ts';
import { type Holder, readBundles } from './sql.ts';

/** Ends the active bundle before its time, for the sandbox; false when there is none. The caller holds the eSIM's lock. */
export async function expireActiveBundle(
  tx: Queryable,
  esim: Holder,
  at: Date,
  means: { newUuid: NewUuid },
): Promise<boolean> {
  const bundles = await readBundles(tx, [esim]);
  const before = noChange(bundles);
  if (!activeOf(before)) return false;
  const expired = expireActive(before, at);
  await applyChange(tx, bundles, esim.status === 'active' ? promote(expired, at) : expired, means);
  return true;
}
