import type { Queryable } from '../../db/database.ts';
import type { Claim } from '../claim.ts';
import type { StoredAnswer } from '../outcome.ts';

export async function findStored(
  db: Queryable,
  accountUuid: string,
  claim: Claim,
): Promise<StoredAnswer | null> {
  const [row] = await db.query<StoredAnswer>(
    {
      name: 'idempotency_find',
      text: `
select fingerprint, status, location, body, is_sealed as "isSecret"
from idempotency_keys
where account_id = $1 and key = $2 and expires_at > $3`,
    },
    [accountUuid, claim.key, claim.createdAt],
  );
  return row ?? null;
}
