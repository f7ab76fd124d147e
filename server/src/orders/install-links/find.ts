import { hashOfToken } from '../../accounts/sessions/token.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { createGroupCommit, perDatabase } from '../../platform/db/group-commit.ts';
import { type FoundLink, findLinks, type UsedToken } from './sql.ts';

export type { FoundLink } from './sql.ts';

/** Concurrent look-ups share a query, so any number of made-up tokens takes at most two connections. */
const findIn = perDatabase((db) =>
  createGroupCommit({ write: (tokens: UsedToken[]) => findLinks(db, tokens) }),
);

/**
 * The link with this token; null if it was revoked, has expired, never existed, or its eSIM or account has ended. All of these cost the same: one
 * hash and one look-up.
 */
export function findLink(db: Database, clock: Clock, token: string): Promise<FoundLink | null> {
  return findIn(db)({ hash: hashOfToken(token).toString('hex'), at: new Date(clock.nowMs()) });
}
