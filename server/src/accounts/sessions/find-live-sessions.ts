import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { findSessions } from './sql.ts';

/** Looks up sessions by the hashes of their tokens. Returns a function that says whether one is still live. */
export async function findLiveSessions(
  db: Queryable,
  clock: Clock,
  hashes: Buffer[],
): Promise<(hash: Buffer) => boolean> {
  const texts = hashes.map((hash) => hash.toString('hex'));
  const sessions = await findSessions(db, texts);
  const nowMs = clock.nowMs();
  const live = new Set(texts.filter((_, index) => (sessions[index]?.expires_at.getTime() ?? 0) > nowMs));
  return (hash) => live.has(hash.toString('hex'));
}
