import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { listLiveSessions } from './sql/list-live-sessions.ts';

/** Returns a function that says whether a session, by its token's hash, goes on. All are looked up together. */
export async function findLiveSessions(
  db: Queryable,
  clock: Clock,
  hashes: Buffer[],
): Promise<(hash: Buffer) => boolean> {
  const live = await listLiveSessions(db, hashes, new Date(clock.nowMs()));
  const known = new Set(live.map((hash) => hash.toString('hex')));
  return (hash) => known.has(hash.toString('hex'));
}
