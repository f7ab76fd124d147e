import type { BundleStatus } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import type { BundleRow } from './rows.ts';

type Change = { from: BundleStatus; row: BundleRow };

const given = rowsOf<Change>({
  account_id: column.uuid(({ row }) => row.account_id),
  id: column.uuid(({ row }) => row.id),
  from_status: column.text(({ from }) => from),
  status: column.text(({ row }) => row.status),
  used_bytes: column.bigint(({ row }) => row.used_bytes),
  activated_at: column.timestamptz(({ row }) => row.activated_at),
  expires_at: column.timestamptz(({ row }) => row.expires_at),
  as_of: column.timestamptz(({ row }) => row.as_of),
});

/** Updates each bundle that still has the status it was read with. Returns how many were updated. */
export async function updateBundles(tx: Queryable, changes: readonly Change[]): Promise<number> {
  const updated = await tx.query(
    {
      name: 'bundle_update',
      text: `
update bundles
set status = given.status,
    used_bytes = given.used_bytes,
    activated_at = given.activated_at,
    expires_at = given.expires_at,
    as_of = given.as_of
from ${given.table} given
where bundles.account_id = given.account_id
  and bundles.id = given.id
  and bundles.status = given.from_status
returning 1`,
    },
    given.values(changes),
  );
  return updated.length;
}
