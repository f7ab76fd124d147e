import { retentionMs } from './claim.ts';
import type { StoredAnswer } from './outcome.ts';
import { tryLockKey } from './try-lock-key.ts';

/**
 * Pieces of a statement that writes many requests at once, each under its idempotency key or without one. It has a CTE `checked` with a
 * row per request: `n`, `account_id`, `key`, `fingerprint`, `status`, `location`, `body`, `created_at` and `locked`. Each (account, key)
 * may occur only once.
 *
 * The statement's snapshot may be older than a lock it acquires. If a transaction that committed in between stored the key, the
 * insert conflicts and does nothing, and the outcome is `overtaken`: a second call sees the stored row.
 */
export type KeyedRow<Refusal extends string = never> =
  | ({ outcome: 'stored' } & StoredAnswer)
  | { outcome: 'in_progress' | 'overtaken' | Refusal };

/** The column `locked`: fails if another transaction has the key's lock. */
export const locksKey = `key is null or ${tryLockKey('account_id', 'key')}`;

/** How an answer replaces one that has expired, in an `on conflict`. */
export const replaceAnswer = `fingerprint = excluded.fingerprint,
      status = excluded.status,
      location = excluded.location,
      body = excluded.body,
      created_at = excluded.created_at,
      expires_at = excluded.expires_at,
      is_sealed = excluded.is_sealed`;

/**
 * The CTE `claimed`: stores each answer under its key, unless there is one that has not expired. Only the holder of a key's lock comes
 * here, so statements with the same keys in another order do not wait for each other.
 */
export function claimKeys(condition = ''): string {
  return `claimed as (
  insert into idempotency_keys as k (account_id, key, fingerprint, status, location, body, created_at, expires_at)
  select account_id, key, fingerprint, status, location, body, created_at, created_at + interval '${retentionMs} milliseconds'
  from checked
  where key is not null and locked${condition}
  on conflict (account_id, key) do update
  set ${replaceAnswer}
  where k.expires_at <= excluded.created_at
  returning account_id, key
)`;
}

/** The rows of `checked` that may be written. */
export const hasItsKey = '(key is null or (account_id, key) in (select account_id, key from claimed))';

/**
 * Returns the other rows, each as a `KeyedRow`. Not those that were written: reading a result row for each took as long as validating
 * its body. An answer stored before is looked up for these rows only: the insert has found out which they are. `refusals` are further
 * cases.
 */
export function otherOutcomes(isWritten: string, refusals = ''): string {
  return `
select
  n::integer,
  case
    when not locked then 'in_progress'
    when stored.status is not null then 'stored'${refusals}
    else 'overtaken'
  end as outcome,
  stored.fingerprint,
  stored.status,
  stored.location,
  stored.body
from checked
left join lateral (
  select k.fingerprint, k.status, k.location, k.body
  from idempotency_keys k
  where k.account_id = checked.account_id and k.key = checked.key and k.expires_at > checked.created_at
  offset 0
) stored on checked.locked
where not (${isWritten})`;
}
