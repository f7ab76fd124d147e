import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { findLink } from './sql/find-link.ts';
import { findSession } from './sql/find-session.ts';
import { hashOfToken } from './token.ts';

/** The hash of the key that a session was started with; null if the session has ended. `hash` is that of its token. */
export function keyHashOfSession(db: Queryable, clock: Clock, hash: Buffer): Promise<string | null> {
  return findSession(db, hash, new Date(clock.nowMs()));
}

/** The hash of the key that a link signs in with; null if it was used or has expired. */
export function keyHashOfLink(db: Queryable, clock: Clock, token: string): Promise<string | null> {
  return findLink(db, hashOfToken(token), new Date(clock.nowMs()));
}
