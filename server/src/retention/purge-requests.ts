import type { Clock } from '../clock.ts';
import type { Database } from '../db/database.ts';
import { lowestUuidAt } from '../ids/uuid-range.ts';
import { inBatches } from '../worker/in-batches.ts';
import { deleteOlder } from './sql/delete-older.ts';
import { listAccountUuids } from './sql/list-accounts.ts';

const keptMs = 7 * 86_400_000;
// One range of the primary key: 2,000 rows take about 10 ms.
const batchSize = 2_000;

/** Deletes the lines of the request log after seven days, account by account. */
export async function purgeRequests(db: Database, clock: Clock, stopping?: AbortSignal): Promise<number> {
  const thanUuid = lowestUuidAt(clock.nowMs() - keptMs);
  let removed = 0;
  for (const accountUuid of await listAccountUuids(db)) {
    removed += await inBatches({ size: batchSize, stopping }, (count) =>
      deleteOlder(db, 'request_log', { accountUuid, thanUuid, count }),
    );
  }
  return removed;
}
