import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { inBatches } from '../worker/in-batches.ts';
import { deleteOlder, keptTables, listAccountUuids } from './sql.ts';

// Small enough that a batch never holds its row locks for long.
const batchSize = 500;

/** Removes events, deliveries and attempts past their time, account by account. */
export async function purgeOld(
  db: Database,
  clock: Clock,
  retentionMs: number,
  stopping?: AbortSignal,
): Promise<number> {
  const thanUuid = firstUuidAt(clock.nowMs() - retentionMs);
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

function firstUuidAt(ms: number): string {
  return Math.max(0, ms).toString(16).padStart(12, '0').padEnd(32, '0');
}
