import type { Queryable } from '../platform/db/database.ts';
import { run } from '../platform/db/statement.ts';
import { deployment } from './deployment.ts';

const lockRow = run<[accountUuid: string]>('account_lock_id')`
select id
from accounts
where id = $1
for no key update`;

// It has no row. The number is arbitrary, but the same in every release.
const lockDeployment = run('account_lock_deployment')`select pg_advisory_xact_lock(7305124803)`;

/**
 * Until the transaction ends, others that lock the account, or the deployment, wait. For limits on what it has: count in the next
 * statement, whose snapshot is newer than the lock. `no key` still allows foreign keys to the account.
 */
export function lockAccount(db: Queryable, accountUuid: string): Promise<void> {
  return accountUuid === deployment.uuid ? lockDeployment(db) : lockRow(db, accountUuid);
}
