import { run } from '../platform/db/statement.ts';

/**
 * Until the transaction ends, others that lock the account wait. For limits on what it has: count in the next statement, whose snapshot
 * is newer than the lock. `no key` still allows foreign keys to the account.
 */
export const lockAccount = run<[accountUuid: string]>('account_lock_id')`
select id
from accounts
where id = $1
for no key update`;
