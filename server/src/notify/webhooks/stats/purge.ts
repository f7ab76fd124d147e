import type { Clock } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/db/database.ts';
import { inBatches } from '../../../platform/worker/in-batches.ts';
import { deleteOldHours } from './sql.ts';

const batchSize = 500;

/** A chore: deletes statistics that are older than the retention. */
export function purgeOldHours(
  db: Database,
  clock: Clock,
  retentionMs: number,
  stopping?: AbortSignal,
): Promise<number> {
  const than = new Date(clock.nowMs() - retentionMs);
  return inBatches({ size: batchSize, stopping }, (count) => deleteOldHours(db, than, count));
}
