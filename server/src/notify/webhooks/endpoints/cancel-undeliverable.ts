import type { Clock } from '../../../platform/clock.ts';
import type { Database } from '../../../platform/db/database.ts';
import { cancelUndeliverableRows } from './sql/cancel.ts';

/**
 * Cancels pending deliveries of disabled and deleted endpoints that `cancelPendingDeliveries` skipped: the rest of a large backlog,
 * deliveries being sent at that moment, and deliveries of events committed concurrently.
 */
export async function cancelUndeliverable(db: Database, clock: Clock, stopping?: AbortSignal): Promise<void> {
  // Blocked ones first, because they may move to the queue meanwhile.
  for (const table of ['blocked_deliveries', 'delivery_queue'] as const) {
    let mayHaveMore = true;
    while (mayHaveMore && !stopping?.aborted) {
      ({ mayHaveMore } = await cancelUndeliverableRows(db, table, new Date(clock.nowMs())));
    }
  }
}
