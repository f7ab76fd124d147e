import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { inBatches } from '../worker/in-batches.ts';
import { deleteExpired } from './sql.ts';

// Small, so that a batch holds its row locks only briefly (about 10 ms).
const batchSize = 1_000;

/** Deletes keys after their 24 hours. */
export function purgeExpiredKeys(db: Database, clock: Clock, stopping?: AbortSignal): Promise<number> {
  return inBatches({ size: batchSize, stopping }, (count) =>
    deleteExpired(db, new Date(clock.nowMs()), count),
  );
}
