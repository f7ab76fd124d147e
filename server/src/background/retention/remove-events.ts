import { expireFeeds, planExpiry } from '../../notify/feed/expire.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { countOldEvents, deleteEvents, type Range } from './sql.ts';

/**
 * Deletes the range's events that are older than `than` and that no feed promises any more. In one transaction with the feeds: a reader
 * that is further behind gets an error instead of a gap.
 */
export async function removeEvents(tx: Queryable, range: Range, than: Date): Promise<number> {
  const old = { range, thanUuid: lowestUuidAt(than.getTime()) };
  const counts = await countOldEvents(tx, old);
  if (counts.length === 0) return 0;
  const plans = await planExpiry(tx, counts, than);
  const removed = await deleteEvents(tx, old, plans);
  // Last, because the sequencer waits for the feeds that this locks.
  await expireFeeds(tx, plans);
  return removed;
}
