import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { deleteExpired } from './sql.ts';

// Small enough that a batch never holds its row locks for long (about 10 ms).
const batchSize = 1_000;

/** Removes keys past their 24 hours, in batches until none is left. */
export async function purgeExpiredKeys(db: Database, clock: Clock): Promise<number> {
  let removed = 0;
  for (;;) {
    const count = await deleteExpired(db, new Date(clock.nowMs()), batchSize);
    removed += count;
    if (count < batchSize) return removed;
  }
}
