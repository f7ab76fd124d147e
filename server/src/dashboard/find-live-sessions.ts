import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { listLiveSessions } from './sql/list-live-sessions.ts';

/** Looks up sessions by the hashes of their tokens. Returns a function that says whether one is still live. */
export async function findLiveSessions(
  db: Queryable,
  clock: Clock,
  hashes: Buffer[],
): Promise<(hash: Buffer) => boolean> {
  const live = await listLiveSessions(db, hashes, new Date(clock.nowMs()));
  const known = new Set(live.map((hash) => hash.toString('hex')));
  return (hash) => known.has(hash.toString('hex'));
}
