import type { Clock } from '../../platform/clock.ts';
import type { Database, Queryable } from '../../platform/db/database.ts';
import { createGroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { findLink, findSessions } from './sql.ts';
import { hashOfToken } from './token.ts';

/**
 * Concurrent look-ups share a query, so any number of made-up tokens takes at most two connections. They need no rate limit, which
 * would also lock out the sessions of whoever shares an address with somebody who guesses.
 */
const findSessionIn = perDatabase((db) =>
  createGroupCommit({ write: (hashes: string[]) => findSessions(db, hashes) }),
);

/** The hash of the key that a session was started with; null if the session has ended. `hash` is that of its token. */
export async function keyHashOfSession(db: Database, clock: Clock, hash: Buffer): Promise<string | null> {
  const session = await findSessionIn(db)(hash.toString('hex'));
  return session && session.expires_at.getTime() > clock.nowMs() ? session.key_hash : null;
}

/** The hash of the key that a link signs in with; null if it was used or has expired. */
export function keyHashOfLink(db: Queryable, clock: Clock, token: string): Promise<string | null> {
  return findLink(db, hashOfToken(token), new Date(clock.nowMs()));
}

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
