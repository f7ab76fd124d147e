import type { Queryable } from '../../db/database.ts';
import type { Claim } from '../claim.ts';
import { lockKey } from '../lock-key.ts';

/** Never waits: a key that another transaction has locked is in progress, in this or another process. */
export async function tryLock(tx: Queryable, accountUuid: string, claim: Claim): Promise<boolean> {
  const [row] = await tx.query<{ locked: boolean }>(
    { name: 'idempotency_try_lock', text: `select ${lockKey('$1::uuid', '$2')} as locked` },
    [accountUuid, claim.key],
  );
  return row?.locked === true;
}
