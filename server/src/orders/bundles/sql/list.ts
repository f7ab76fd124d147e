import type { Queryable } from '../../../platform/db/database.ts';
import { beforeFirst } from '../../../platform/lists/keyset.ts';
import { type BundleRow, columns } from './rows.ts';

export function listBundleRows(
  db: Queryable,
  accountUuid: string,
  iccid: string,
  page: { beforeUuid: string | null; count: number },
): Promise<BundleRow[]> {
  return db.query(
    {
      name: 'bundle_list',
      text: `
select ${columns}
from bundles
where account_id = $1 and iccid = $2 and id < $3
order by id desc
limit $4`,
    },
    [accountUuid, iccid, page.beforeUuid ?? beforeFirst, page.count],
  );
}
