import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { lowestUuidAt } from '../ids/uuid-range.ts';
import { inBatches } from '../worker/in-batches.ts';
import { deleteOlder, keptTables } from './sql/delete-older.ts';
import { listAccountUuids } from './sql/list-accounts.ts';

// Small, so that a batch holds its row locks only briefly.
const batchSize = 500;

/** Deletes events, deliveries, attempts and recoveries older than the retention, account by account. */
export async function purgeOld(
  db: Database,
  clock: Clock,
  retentionMs: number,
  stopping?: AbortSignal,
): Promise<number> {
  const thanUuid = lowestUuidAt(clock.nowMs() - retentionMs);
  let removed = 0;
  for (const accountUuid of await listAccountUuids(db)) {
    for (const table of keptTables) {
      removed += await inBatches({ size: batchSize, stopping }, (count) =>
        deleteOlder(db, table, { accountUuid, thanUuid, count }),
      );
    }
  }
  return removed;
}
