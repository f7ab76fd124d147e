import type { Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { applyChange } from './apply.ts';
import { noChange } from './change.ts';
import { cancelAll } from './queue.ts';
import { type Holder, readBundles } from './sql.ts';

/** Cancels what is queued or active, when the eSIM ends. The caller holds the eSIM's lock. */
export async function cancelBundles(
  tx: Queryable,
  esim: Pick<Holder, 'account_id' | 'iccid'>,
  means: { newUuid: NewUuid; executionId: string },
): Promise<void> {
  const bundles = await readBundles(tx, [esim]);
  await applyChange(tx, bundles, cancelAll(noChange(bundles)), means);
}
