import type { Clock } from '../../clock.ts';
import type { Database } from '../../db/database.ts';
import { cancelUndeliverableRows } from './sql.ts';

/**
 * Cancels what is pending for endpoints that are disabled or gone: the rest of a large backlog, what was being sent at that
 * moment, and what an event that was being written just then has added.
 */
export async function cancelUndeliverable(db: Database, clock: Clock, stopping?: AbortSignal): Promise<void> {
  while (!stopping?.aborted) {
    const { mayHaveMore } = await cancelUndeliverableRows(db, new Date(clock.nowMs()));
    if (!mayHaveMore) return;
  }
}
