import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { lowestUuidAt } from '../ids/uuid-range.ts';
import { inBatches } from '../worker/in-batches.ts';
import { deleteOldCounts } from './sql/delete-old-counts.ts';
import { deleteOldMilestones } from './sql/delete-old-milestones.ts';
import { listCountedAccounts } from './sql/list-counted-accounts.ts';
import { allAccounts, hourMs, maxHours } from './stages.ts';

const batchSize = 500;

/** Deletes the counts and milestones of orders that no overview shows any more. */
export async function purgeCounts(db: Database, clock: Clock, stopping?: AbortSignal): Promise<void> {
  // An hour more: the window starts with a full hour.
  const before = new Date(clock.nowMs() - (maxHours + 1) * hourMs);
  const beforeUuid = lowestUuidAt(before.getTime());
  for (const accountUuid of [allAccounts, ...(await listCountedAccounts(db))]) {
    const options = { size: batchSize, stopping };
    await inBatches(options, (count) => deleteOldCounts(db, { accountUuid, before, count }));
    await inBatches(options, (count) => deleteOldMilestones(db, { accountUuid, beforeUuid, count }));
  }
}
