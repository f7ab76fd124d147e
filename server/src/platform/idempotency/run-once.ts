import { AppError } from '../app-error.ts';
import type { Database, Queryable } from '../db/database.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { storedAnswerPlace } from '../secrets/sealed-places.ts';
import type { Claim } from './claim.ts';
import { findEarlier } from './find-earlier.ts';
import type { Answer, Outcome } from './outcome.ts';
import { rollBackWork, startWork, storeAnswer, tryLock } from './sql.ts';

export type Write = {
  db: Database;
  account: { uuid: string };
  keyring: Keyring;
  claim: Claim | null;
  /** Renders an error as this request's answer. */
  renderRefusal(error: AppError): Answer;
  /** Runs after the work, in its transaction. */
  afterWork(tx: Queryable): Promise<void>;
  onSecretShownAgain(tx: Queryable, body: string): Promise<void>;
};

/**
 * Runs `work` in a transaction that also stores its answer, so the two commit together. A refusal that `work` throws (404,
 * 409) rolls back its writes and is stored as the answer.
 */
export async function runOnce(write: Write, work: (tx: Queryable) => Promise<Answer>): Promise<Outcome> {
  const { claim } = write;
  return write.db.transaction(async (tx) => {
    if (!claim) return fresh(await workWhole(tx, write, work));
    if (!(await tryLock(tx, write.account.uuid, claim))) return { kind: 'in_progress' };
    // A separate statement: its snapshot is taken after the lock, so it sees the last holder's commit.
    const earlier = await findEarlier(tx, write, claim);
    if (earlier) return earlier;
    const answer = await attempt(tx, write, work);
    await storeAnswer(tx, write.account.uuid, claim, sealed(write, claim, answer));
    return fresh(answer);
  });
}

/** Stores a refusal that was decided before any write. */
export function refuseOnce(write: Write, refusal: AppError): Promise<Outcome> {
  return runOnce(write, () => Promise.reject(refusal));
}

async function attempt(
  tx: Queryable,
  write: Write,
  work: (tx: Queryable) => Promise<Answer>,
): Promise<Answer> {
  await startWork(tx);
  try {
    return await workWhole(tx, write, work);
  } catch (error) {
    if (!(error instanceof AppError) || !isStorable(error)) throw error;
    await rollBackWork(tx);
    return write.renderRefusal(error);
  }
}

async function workWhole(
  tx: Queryable,
  { afterWork }: Write,
  work: (tx: Queryable) => Promise<Answer>,
): Promise<Answer> {
  const answer = await work(tx);
  await afterWork(tx);
  return answer;
}

/** Only the operation's own decisions are stored, not errors that prevented one (validation, limits, faults, setup). */
function isStorable({ status, code }: AppError): boolean {
  return (status === 404 || status === 409) && code !== 'core_not_connected';
}

/** The answer as it is stored. A secret is never stored in plaintext. */
function sealed({ keyring, account }: Write, { key }: Claim, answer: Answer): Answer {
  if (!answer.isSecret) return answer;
  return { ...answer, body: keyring.seal(answer.body, storedAnswerPlace(account.uuid, key)) };
}

function fresh(answer: Answer): Outcome {
  return { kind: 'answered', answer, replayed: false };
}
