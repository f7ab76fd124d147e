import type { Clock } from '../../../platform/clock.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { deleteGaps, type EndpointKey, insertGap, shortenGap } from './sql.ts';

/** Notes what a disabled endpoint misses up to now. Call it before it is enabled, or subscribes to something else. */
export function noteGap({ clock }: { clock: Clock }, tx: Queryable, key: EndpointKey): Promise<void> {
  return insertGap(tx, key, new Date(clock.nowMs()));
}

// As far as `undelivered-parts.ts` widens a gap.
const marginMs = 60_000;

type Searched = {
  /** Null if it searched everything undelivered; otherwise it searched by the current subscriptions. */
  sinceMs: number | null;
  /** Null if it was not asked to end before its own time. */
  untilMs: number | null;
  createdAt: Date;
};

/** Forgets the gaps of which a recovery has queued everything. */
export async function forgetGaps(tx: Queryable, key: EndpointKey, searched: Searched): Promise<void> {
  const { sinceMs, untilMs, createdAt } = searched;
  const until = untilMs === null ? createdAt : new Date(untilMs - marginMs);
  await deleteGaps(tx, key, sinceMs === null ? null : new Date(sinceMs + marginMs), until);
  if (sinceMs === null) await shortenGap(tx, key, until);
}
