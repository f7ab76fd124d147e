import type { Database } from '../db/database.ts';
import { lowestUuidAt } from '../ids/uuid-range.ts';
import { inBatches } from '../worker/in-batches.ts';
import { expireRuns } from './sql/expire-runs.ts';
import { findOldestKept } from './sql/find-oldest-kept.ts';

const batchSize = 500;

/**
 * Expires the feed up to this time. Returns the id below which the feed needs no event, so that those may be deleted. A reader that
 * is further behind gets an error instead of a gap.
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
