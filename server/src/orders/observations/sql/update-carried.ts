import type { EsimStatus } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { CarriedEsim } from './lock-carried.ts';

type Change = { from: EsimStatus; to: CarriedEsim };

const given = rowsOf<Change>({
  account_id: column.uuid(({ to }) => to.account_id),
  id: column.uuid(({ to }) => to.id),
  from_status: column.text(({ from }) => from),
  status: column.text(({ to }) => to.status),
  country: column.text(({ to }) => to.country),
  observed_at: column.timestamptz(({ to }) => to.country_observed_at),
});

/** Updates the eSIMs that still have the status they were read with. Returns how many. The caller holds their locks. */
export async function updateCarried(tx: Queryable, changes: readonly Change[]): Promise<number> {
  const updated = await tx.query(
    {
      name: 'esim_update_carried',
      text: `
update esims
set status = given.status,
    country = given.country,
    country_observed_at = given.observed_at
from ${given.table} given
where esims.account_id = given.account_id
  and esims.id = given.id
  and esims.status = given.from_status
returning 1`,
    },
    given.values(changes),
  );
  return updated.length;
}
