import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { deleteExpiredSessions } from './sql/delete-expired.ts';
import { deleteSession } from './sql/delete-session.ts';
import { hashOfToken } from './token.ts';

export function endSession(db: Queryable, token: string): Promise<void> {
  return deleteSession(db, hashOfToken(token));
}

/** Removes sessions and links that no longer work. */
export function removeExpired(db: Queryable, clock: Clock): Promise<void> {
  return deleteExpiredSessions(db, new Date(clock.nowMs()));
}
