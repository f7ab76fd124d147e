import type { Queryable } from '../db/database.ts';
import type { Claim } from './claim.ts';
import { lockKey } from './lock-key.ts';
import type { Answer, StoredAnswer } from './outcome.ts';

/** Never waits: a key that another transaction has locked is in progress, in this or another process. */
export async function tryLock(tx: Queryable, accountUuid: string, claim: Claim): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    { name: 'idempotency_try_lock', text: `select ${lockKey('$1::uuid', '$2')} as locked` },
    [accountUuid, claim.key],
  );
  return row?.locked === true;
}

export async function findStored(
  db: Queryable,
  accountUuid: string,
  claim: Claim,
): Promise<StoredAnswer | null> {
  const [row] = await db.query<StoredAnswer>(
    {
      name: 'idempotency_find',
      text: `select fingerprint, status, location, body, is_sealed as "isSecret"
             from idempotency_keys where account_id = $1 and key = $2 and expires_at > $3`,
    },
    [accountUuid, claim.key, claim.createdAt],
  );
  return row ?? null;
}

/**
 * Call it only under the key's lock and after `findStored`: then a conflicting row can only be an expired one. The body of
 * a secret answer must be sealed already.
 */
export async function storeAnswer(
  tx: Queryable,
  accountUuid: string,
  claim: Claim,
  answer: Answer,
): Promise<void> {
  await tx.query(
    {
      name: 'idempotency_store',
      text: `insert into idempotency_keys (account_id, key, fingerprint, status, location, body, created_at, expires_at,
               is_sealed)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
             on conflict (account_id, key) do update set fingerprint = excluded.fingerprint, status = excluded.status,
               location = excluded.location, body = excluded.body, created_at = excluded.created_at,
               expires_at = excluded.expires_at, is_sealed = excluded.is_sealed`,
    },
    [
      accountUuid,
      claim.key,
      Buffer.from(claim.fingerprint, 'hex'),
      answer.status,
      answer.location,
      answer.body,
      claim.createdAt,
      claim.expiresAt,
      answer.isSecret ?? false,
    ],
  );
}

export async function startWork(tx: Queryable): Promise<void> {
  await tx.query({ name: 'idempotency_start_work', text: 'savepoint work' });
}

export async function rollBackWork(tx: Queryable): Promise<void> {
  await tx.query({ name: 'idempotency_roll_back_work', text: 'rollback to savepoint work' });
}

/** Deletes a batch of expired keys and returns how many. `skip locked` lets several processes purge at once. */
export async function deleteExpired(db: Queryable, now: Date, batchSize: number): Promise<number> {
  const rows = await db.query(
    {
      name: 'idempotency_delete_expired',
      text: `delete from idempotency_keys where (account_id, key) in (
               select account_id, key from idempotency_keys where expires_at <= $1
               order by expires_at limit $2 for update skip locked)
             returning 1`,
    },
    [now, batchSize],
  );
  return rows.length;
}
