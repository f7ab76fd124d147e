import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { applyChange } from './apply.ts';
import { noChange } from './change.ts';
import { passTime } from './queue.ts';
import { type Holder, insertUsageRecord, readBundles } from './sql.ts';
import { countUsage } from './usage.ts';

/** Counts a usage record, once. The caller holds the eSIM's lock. */
export async function recordUsage(
  tx: Queryable,
  esim: Holder,
  record: { recordId: string; bytes: number; at: Date },
  means: { clock: Clock; newUuid: NewUuid },
): Promise<void> {
  if (!(await insertUsageRecord(tx, esim.iccid, record))) return;
  const bundles = await readBundles(tx, [esim]);
  const promotes = esim.status === 'active';
  // What is over takes no more, also in the moment before the clock's own round has noticed.
  const current = passTime(noChange(bundles), new Date(means.clock.nowMs()), { promotes });
  await applyChange(tx, bundles, countUsage(current, record, { promotes }), means);
}
