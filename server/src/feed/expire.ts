import type { Database } from '../db/database.ts';
import { lowestUuidAt } from '../ids/uuid-range.ts';
import { inBatches } from '../worker/in-batches.ts';
import { expireRuns } from './sql/expire-runs.ts';
import { findOldestKept } from './sql/find-oldest-kept.ts';

const batchSize = 500;

/**
 * Ends the feed's promise for events older than this time. Returns the id below which no event is promised any more: those may be
 * deleted. A reader that has not come that far gets an error instead of a gap.
 */
export async function expireFeed(
  db: Database,
  { accountUuid, than, stopping }: { accountUuid: string; than: Date; stopping?: AbortSignal | undefined },
): Promise<string> {
  const thanUuid = lowestUuidAt(than.getTime());
  await inBatches({ size: batchSize, stopping }, (count) =>
    expireRuns(db, { accountUuid, thanUuid, than, count }),
  );
  const kept = await findOldestKept(db, accountUuid);
  return kept !== null && kept < thanUuid ? kept : thanUuid;
}
