import { idPrefixes } from '@simplane/contract';
import { newEvent } from '../../notify/events/new-event.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import type { Announcing } from '../../platform/db/signals.ts';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import type { TimeAndIds } from '../../platform/ids/uuid-v7.ts';
import { finishBatch, lockFinishable } from './sql.ts';

type Deps = TimeAndIds & Announcing;

/**
 * Finishes the batches whose orders have all ended, each once, with its event. A chore and not a part of ending an order: the last
 * two orders may end at the same time, and orders without a batch should not pay for it. Several processes may run it at once.
 */
export async function finishBatches(db: Database, deps: Deps, stopping?: AbortSignal): Promise<void> {
  let after: string | null = lowestUuid;
  while (after !== null && !stopping?.aborted) {
    const from: string = after;
    const batch = await db.transaction((tx) => finishNext(tx, deps, from));
    if (batch) deps.signals.announce('deliveries', batch.account_id);
    after = batch?.id ?? null;
  }
}

/** Returns the batch, or null if there is none. */
async function finishNext(tx: Queryable, deps: Deps, after: string) {
  const batch = await lockFinishable(tx, after);
  if (!batch) return null;
  const { account_id: accountUuid, total, succeeded, failed, canceled } = batch;
  const batchId = idOfUuid(idPrefixes.batch, batch.id);
  const event = newEvent(deps, {
    accountUuid,
    type: 'batch.finished',
    data: { batch_id: batchId, total, succeeded, failed, canceled },
  });
  await finishBatch(tx, batch, new Date(deps.clock.nowMs()), event);
  return batch;
}
