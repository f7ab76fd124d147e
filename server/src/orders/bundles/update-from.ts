import type { BundleStatus } from '@simplane/contract';
import { forceKeyLookup } from '../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';

/** The columns that change after a bundle was bought. */
type ChangeableBundle = {
  account_id: string;
  id: string;
  status: BundleStatus;
  used_bytes: number;
  most_used_bytes: number | null;
  activated_at: Date | null;
  expires_at: Date | null;
  as_of: Date | null;
};

/** A bundle's new version, and the status it was read with. */
export type BundleChange = { from: BundleStatus; row: ChangeableBundle };

/** The rows of `updateBundlesFrom`. */
export function bundleChanges(first?: number) {
  return rowsOf<BundleChange>(
    {
      account_id: column.uuid(({ row }) => row.account_id),
      id: column.uuid(({ row }) => row.id),
      from_status: column.text(({ from }) => from),
      status: column.text(({ row }) => row.status),
      used_bytes: column.bigint(({ row }) => row.used_bytes),
      most_used_bytes: column.bigint(({ row }) => row.most_used_bytes),
      activated_at: column.timestamptz(({ row }) => row.activated_at),
      expires_at: column.timestamptz(({ row }) => row.expires_at),
      as_of: column.timestamptz(({ row }) => row.as_of),
    },
    first,
  );
}

/** Updates each bundle that still has the status it was read with. Returns a row for each. */
export function updateBundlesFrom(source: string): string {
  return `
  update bundles
  set status = given.status,
      used_bytes = given.used_bytes,
      most_used_bytes = given.most_used_bytes,
      activated_at = given.activated_at,
      expires_at = given.expires_at,
      as_of = given.as_of
  from ${source} given
  where bundles.account_id = given.account_id
    and bundles.id = given.id
    and bundles.status = given.from_status
    and ${forceKeyLookup('given.n')}
  returning 1`;
}
