import type { Queryable } from '../../../../platform/db/database.ts';

/**
 * Serializes creations within an account, so two cannot both take the last slot under the limit. `no key` still allows foreign
 * keys to the account. The count is a separate statement, because its snapshot must be newer than the lock.
 */
export async function lockAndCountEndpoints(tx: Queryable, accountUuid: string): Promise<number> {
  await tx.query(
    {
      name: 'endpoint_lock_account',
      text: `
select id
from accounts
where id = $1
for no key update`,
    },
    [accountUuid],
  );
  const [row] = await tx.query<{ count: number }>(
    {
      name: 'endpoint_count',
      text: `
select count(*) as count
from webhook_endpoints
where account_id = $1`,
    },
    [accountUuid],
  );
  return row?.count ?? 0;
}
