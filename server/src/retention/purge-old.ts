import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { expireFeed } from '../feed/expire.ts';
import { lowestUuidAt } from '../ids/uuid-range.ts';
import { inBatches } from '../worker/in-batches.ts';
import { deleteOlder, keptTables } from './sql/delete-older.ts';
import { listAccountUuids } from './sql/list-accounts.ts';

// Small, so that a batch holds its row locks only briefly.
const batchSize = 500;

/**
 * Deletes events, deliveries, attempts and recoveries older than the retention, account by account. An event is deleted only when the
 * feed no longer promises it.
 */
export async function purgeOld(
  db: Database,
  clock: Clock,
  retentionMs: number,
  stopping?: AbortSignal,
): Promise<number> {
  const than = new Date(clock.nowMs() - retentionMs);
  const thanUuid = lowestUuidAt(than.getTime());
  let removed = 0;
  const failures: unknown[] = [];
  for (const accountUuid of await listAccountUuids(db)) {
    if (stopping?.aborted) break;
    try {
      const eventsBelow = await expireFeed(db, { accountUuid, than, stopping });
      for (const table of keptTables) {
        const older = { accountUuid, thanUuid: table === 'events' ? eventsBelow : thanUuid };
        removed += await inBatches({ size: batchSize, stopping }, (count) =>
          deleteOlder(db, table, { ...older, count }),
        );
      }
    } catch (error) {
      failures.push(error); // the other accounts must not wait for this one
    }
  }
  if (failures.length > 0) throw failures[0];
  return removed;
}
