import type { Queryable } from '../../platform/db/database.ts';
import { lockAccount } from './lock-account.ts';
import { ownedBy } from './owned-by.ts';
import { type ApiKeyRow, type KeyId, keyColumns } from './rows.ts';

/**
 * Locks until the transaction ends. Changes to the keys of one account run one after another, so that of two last admins that
 * revoke each other only one succeeds.
 */
export async function lockKey(tx: Queryable, { accountUuid, keyUuid }: KeyId): Promise<ApiKeyRow | null> {
  if (accountUuid !== null) await lockAccount(tx, accountUuid);
  const { condition, suffix } = ownedBy(accountUuid);
  const [row] = await tx.query<ApiKeyRow>(
    {
      name: `api_key_lock${suffix}`,
      text: `
select ${keyColumns}
from api_keys
where ${condition} and id = $2
for no key update`,
    },
    [accountUuid, keyUuid],
  );
  return row ?? null;
}
