import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { insertLink } from './sql/insert-link.ts';
import { hashOfToken, newToken } from './token.ts';

export const linkMs = 10 * 60_000;

/** Creates a link that signs in once with this key, and returns its path. The token is in the fragment, which no server logs. */
export async function createLink(db: Queryable, clock: Clock, keyUuid: string): Promise<string> {
  const token = newToken();
  const expiresAt = new Date(clock.nowMs() + linkMs);
  await insertLink(db, { hash: hashOfToken(token), keyUuid, expiresAt });
  return `/dashboard/sign-in#link=${token}`;
}
