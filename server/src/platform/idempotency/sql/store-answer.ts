import type { Queryable } from '../../db/database.ts';
import type { Claim } from '../claim.ts';
import type { Answer } from '../outcome.ts';

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
      text: `
insert into idempotency_keys (account_id, key, fingerprint, status, location, body, created_at, expires_at, is_sealed)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
on conflict (account_id, key) do update
set fingerprint = excluded.fingerprint,
    status = excluded.status,
    location = excluded.location,
    body = excluded.body,
    created_at = excluded.created_at,
    expires_at = excluded.expires_at,
    is_sealed = excluded.is_sealed`,
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
