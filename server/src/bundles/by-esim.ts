import type { Queryable } from '../db/database.ts';
import { type BundleRow, type Holder, readBundles } from './sql.ts';

/** The bundles of each of these eSIMs, oldest first. The caller holds the eSIMs' locks. */
export async function bundlesByEsim(
  tx: Queryable,
  holders: readonly Pick<Holder, 'account_id' | 'iccid'>[],
): Promise<Map<string, BundleRow[]>> {
  const groups = new Map<string, BundleRow[]>();
  for (const bundle of await readBundles(tx, holders)) {
    const group = groups.get(bundle.iccid);
    if (group) group.push(bundle);
    else groups.set(bundle.iccid, [bundle]);
  }
  return groups;
}
