import type { Queryable } from '../../../platform/db/database.ts';

/**
 * Counts the account's open executions, up to `atMost`. Orders of an account with a limit wait for each other here, so that two
 * cannot take the same place. The count is a separate statement, because its snapshot must be newer than the lock.
 */
export async function lockAndCountOpen(tx: Queryable, accountUuid: string, atMost: number): Promise<number> {
  await tx.query(
    {
      name: 'execution_lock_account',
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
      name: 'execution_count_open',
      text: `
select count(*)::integer as count
from (
  select 1
  from execution_queue
  where account_id = $1
  limit $2
) open`,
    },
    [accountUuid, atMost],
  );
  return row?.count ?? 0;
}
