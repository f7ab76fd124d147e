import type { CoreMode } from '../../network/core-mode.ts';
import type { Database } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { lockEsimsWithServiceEnd } from './sql.ts';
import { writeServiceOf } from './write.ts';

// Small, so that a batch does not lock its eSIMs for long.
const batchSize = 100;

/** Ends what depleted bundles still allowed until their validity was over. Several processes may run it at once. */
export async function endServices(
  db: Database,
  deps: TimeAndIds & Announcing & { core: CoreMode },
  stopping?: AbortSignal,
): Promise<void> {
  let locked = batchSize;
  while (locked === batchSize && !stopping?.aborted) {
    const esims = await db.transaction(async (tx) => {
      const ended = await lockEsimsWithServiceEnd(tx, new Date(deps.clock.nowMs()), batchSize);
      await writeServiceOf(tx, ended, deps);
      return ended;
    });
    for (const accountUuid of new Set(esims.map((esim) => esim.account_id)))
      deps.signals.announce('deliveries', accountUuid);
    locked = esims.length;
  }
}
