import { count, one, run, single } from '../db/statement.ts';
import type { Claim } from './claim.ts';
import { replaceAnswer } from './keys-in-statement.ts';
import type { Answer, StoredAnswer } from './outcome.ts';
import { tryLockKey } from './try-lock-key.ts';

/** Never waits: a key that another transaction has locked is in progress, in this or another process. */
export const tryLock = single<boolean, [accountUuid: string, claim: Claim]>(
  'idempotency_try_lock',
  (accountUuid, claim) => [accountUuid, claim.key],
)`select ${tryLockKey('$1::uuid', '$2')} as locked`;

export const findStored = one<StoredAnswer, [accountUuid: string, claim: Claim]>(
  'idempotency_find',
  (accountUuid, claim) => [accountUuid, claim.key, claim.createdAt],
)`
select fingerprint, status, location, body, is_sealed as "isSecret"
from idempotency_keys
where account_id = $1 and key = $2 and expires_at > $3`;

/**
 * Call it only under the key's lock and after `findStored`: then a conflicting row can only be an expired one. The body of
 * a secret answer must be sealed already.
 */
export const storeAnswer = run<[accountUuid: string, claim: Claim, answer: Answer]>(
  'idempotency_store',
  (accountUuid, claim, answer) => [
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
)`
insert into idempotency_keys (account_id, key, fingerprint, status, location, body, created_at, expires_at, is_sealed)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (account_id, key) do update
set ${replaceAnswer}`;

export const startWork = run('idempotency_start_work')`savepoint work`;

export const rollBackWork = run('idempotency_roll_back_work')`rollback to savepoint work`;

/**
 * Deletes a batch of expired keys and returns how many. `skip locked` lets several processes purge at once. An array, because `in` may run
 * its limit again for each row.
 */
export const deleteExpired = count<[now: Date, batchSize: number]>('idempotency_delete_expired')`
delete from idempotency_keys
where ctid = any(array(
  select ctid
  from idempotency_keys
  where expires_at <= $1
  order by expires_at
  limit $2
  for update skip locked))
returning 1`;
