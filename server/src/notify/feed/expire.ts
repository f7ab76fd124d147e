import type { Queryable } from '../../platform/db/database.ts';
import { lowestUuidAt } from '../../platform/ids/uuid-range.ts';
import { type Expiry, expireRuns, findExpiry, type OldEvents } from './sql/positions.ts';

export type { Expiry, OldEvents } from './sql/positions.ts';

/** How far the feeds of these accounts may expire, so that events from before `than` can be deleted. Changes nothing. */
export function planExpiry(tx: Queryable, accounts: readonly OldEvents[], than: Date): Promise<Expiry[]> {
  return findExpiry(tx, accounts, { thanUuid: lowestUuidAt(than.getTime()), than });
}

/** Expires feeds as planned. Commit it before or with the deletion of the events: a reader then gets an error instead of a gap. */
export async function expireFeeds(tx: Queryable, plans: readonly Expiry[]): Promise<void> {
  if (plans.length > 0) await expireRuns(tx, plans);
}
