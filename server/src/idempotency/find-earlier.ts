import type { Queryable } from '../db/database.ts';
import type { Claim } from './claim.ts';
import { type Outcome, readStored } from './outcome.ts';
import { findStored } from './sql.ts';

/** What an earlier request with this key came to, without claiming it: for a request that will not run anyway. */
export async function findEarlier(db: Queryable, accountUuid: string, claim: Claim): Promise<Outcome | null> {
  const stored = await findStored(db, accountUuid, claim);
  return stored && readStored(stored, claim);
}
