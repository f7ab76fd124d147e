import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { inBatches } from '../../platform/worker/in-batches.ts';
import { deleteOlderEntries } from './sql.ts';

const keptMs = 365 * 86_400_000;
// Small, so that a batch holds its row locks only briefly.
const batchSize = 500;

/** Deletes entries after a year. */
export function purgeAuditLog(db: Database, clock: Clock, stopping?: AbortSignal): Promise<number> {
  const thanUuid = lowestUuidAt(clock.nowMs() - keptMs);
  return inBatches({ size: batchSize, stopping }, (count) => deleteOlderEntries(db, thanUuid, count));
}
