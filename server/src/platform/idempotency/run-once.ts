import { AppError } from '../app-error.ts';
import type { Database, Queryable } from '../db/database.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { storedAnswerPlace } from '../secrets/sealed-places.ts';
import type { Claim } from './claim.ts';
import { findEarlier } from './find-earlier.ts';
import type { Answer, Outcome } from './outcome.ts';
import { rollBackWork, startWork, storeAnswer, tryLock } from './sql.ts';

export type Store = {
  db: Database;
  accountUuid: string;
  keyring: Keyring;
  claim: Claim | null;
  /** Renders an error as this request's answer. */
  renderRefusal(error: AppError): Answer;
  onSecretShownAgain(tx: Queryable, body: string): Promise<void>;
};

type Work = (tx: Queryable) => Promise<Answer>;

/**
 * Runs `work` in a transaction that also stores its answer, so the two commit together. A refusal that `work` throws (404,
 * 409) rolls back its writes and is stored as the answer.
 */
export async function runOnce(store: Store, work: Work): Promise<Outcome> {
  const { claim, accountUuid } = store;
  return store.db.transaction(async (tx) => {
    if (!claim) return fresh(await work(tx));
    if (!(await tryLock(tx, accountUuid, claim))) return { kind: 'in_progress' };
    // A separate statement: its snapshot is taken after the lock, so it sees the last holder's commit.
    const earlier = await findEarlier(tx, store, claim);
    if (earlier) return earlier;
    const answer = await attempt(tx, store, work);
    await storeAnswer(tx, accountUuid, claim, sealed(store, claim, answer));
    return fresh(answer);
  });
}

async function attempt(tx: Queryable, store: Store, work: Work): Promise<Answer> {
  await startWork(tx);
  try {
    return await work(tx);
  } catch (error) {
    if (!(error instanceof AppError) || !isStorable(error)) throw error;
    await rollBackWork(tx);
    return store.renderRefusal(error);
  }
}

/** Only the operation's own decisions are stored, not errors that prevented one (validation, limits, faults, setup). */
function isStorable({ status, code }: AppError): boolean {
  return (status === 404 || status === 409) && code !== 'core_not_connected';
}

/** The answer as it is stored. A secret is never stored in plaintext. */
function sealed({ keyring, accountUuid }: Store, { key }: Claim, answer: Answer): Answer {
  if (!answer.isSecret) return answer;
  return { ...answer, body: keyring.seal(answer.body, storedAnswerPlace(accountUuid, key)) };
}

function fresh(answer: Answer): Outcome {
  return { kind: 'answered', answer, replayed: false };
}
