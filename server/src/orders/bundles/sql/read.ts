import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { type BundledEsim, type BundleRow, columns } from './rows.ts';

type EsimKey = Pick<BundledEsim, 'account_id' | 'iccid'>;

const given = rowsOf<EsimKey>({
  account_id: column.uuid((esim) => esim.account_id),
  iccid: column.text((esim) => esim.iccid),
});

/** All bundles of these eSIMs, oldest first. The lock on the eSIM's row covers its bundles: take it before changing them. */
export function readBundles(tx: Queryable, esims: readonly EsimKey[]): Promise<BundleRow[]> {
  return tx.query(
    {
      name: 'bundle_read',
      text: `
select ${columns}
from bundles
join ${given.table} given using (account_id, iccid)
order by id`,
    },
    given.values(esims),
  );
}
