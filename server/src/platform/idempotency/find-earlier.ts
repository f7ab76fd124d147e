import type { Queryable } from '../db/database.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { storedAnswerPlace } from '../secrets/sealed-places.ts';
import type { Claim } from './claim.ts';
import { type Outcome, readStored } from './outcome.ts';
import { findStored } from './sql.ts';

type Reader = {
  accountUuid: string;
  keyring: Keyring;
  /** Runs before an answer with a secret is returned again. */
  onSecretShownAgain(db: Queryable, body: string): Promise<void>;
};

/** The stored outcome of an earlier request with this key, or null. Does not claim the key. */
export async function findEarlier(
  db: Queryable,
  { accountUuid, keyring, onSecretShownAgain }: Reader,
  claim: Claim,
): Promise<Outcome | null> {
  const stored = await findStored(db, accountUuid, claim);
  if (!stored) return null;
  const outcome = readStored(stored, claim);
  // Opened only if the fingerprint matches: another request that reuses the key must not see the answer.
  if (outcome.kind !== 'answered' || !stored.isSecret) return outcome;
  const body = await keyring.open(stored.body, storedAnswerPlace(accountUuid, claim.key));
  await onSecretShownAgain(db, body);
  return { ...outcome, answer: { ...outcome.answer, body, isSecret: true } };
}
