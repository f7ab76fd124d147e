import type { Queryable } from '../../../platform/db/database.ts';
import type { LockedEsim } from '../../esims/lock.ts';

/** The columns that counting usage needs. */
export type CarriedEsim = Pick<
  LockedEsim,
  'account_id' | 'id' | 'iccid' | 'product_id' | 'status' | 'country' | 'country_observed_at'
>;

/** Locks eSIMs in ICCID order, so that transactions with overlapping sets never deadlock. */
export function lockCarried(
  tx: Queryable,
  iccids: readonly string[],
  ofAccount: string | null,
): Promise<CarriedEsim[]> {
  return tx.query(
    {
      name: 'esim_lock_carried',
      text: `
select account_id, id, iccid, product_id, status, country, country_observed_at
from esims
where iccid = any($1) and ($2::uuid is null or account_id = $2)
order by iccid
for update`,
    },
    [iccids, ofAccount],
  );
}
