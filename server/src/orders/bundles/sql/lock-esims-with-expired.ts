import type { Queryable } from '../../../platform/db/database.ts';
import type { BundledEsim } from './rows.ts';

/**
 * Locks eSIMs whose active bundle has expired, and skips those that are locked: several processes can share the work
 * without waiting. The bundle may have changed before the lock was taken: read it again.
 */
export function lockEsimsWithExpiredBundle(tx: Queryable, now: Date, count: number): Promise<BundledEsim[]> {
  return tx.query(
    {
      name: 'bundle_lock_holders_due',
      text: `
select esims.account_id, esims.iccid, esims.status
from bundles
join esims on esims.iccid = bundles.iccid and esims.account_id = bundles.account_id
where bundles.status = 'active' and bundles.expires_at <= $1
order by bundles.expires_at
limit $2
for update of esims skip locked`,
    },
    [now, count],
  );
}
