import { defaultThresholds } from '@simplane/contract';
import type { Clock } from '../clock.ts';
import type { Queryable } from '../db/database.ts';
import { uuidText } from '../ids/uuid.ts';
import type { NewUuid } from '../ids/uuid-v7.ts';
import { type BundleRow, insertBundle } from './sql.ts';

export type NewBundle = {
  accountUuid: string;
  iccid: string;
  /** Copied into the bundle: what was bought stays what it was when the catalog changes. */
  product: { id: string; data_bytes: number | null; validity_days: number };
  /** Percentages; the default ones when left out. Unlimited data has none. */
  thresholds?: readonly number[] | null | undefined;
};

/** Puts a bundle at the end of its eSIM's queue. */
export async function addBundleRow(
  tx: Queryable,
  { accountUuid, iccid, product, thresholds }: NewBundle,
  { clock, newUuid }: { clock: Clock; newUuid: NewUuid },
): Promise<BundleRow> {
  const row: BundleRow = {
    account_id: accountUuid,
    id: uuidText(newUuid()),
    iccid,
    product_id: product.id,
    status: 'queued',
    data_bytes: product.data_bytes,
    used_bytes: 0,
    thresholds: product.data_bytes === null ? [] : ascending(thresholds ?? defaultThresholds),
    validity_days: product.validity_days,
    activated_at: null,
    expires_at: null,
    as_of: null,
    created_at: new Date(clock.nowMs()),
  };
  await insertBundle(tx, row);
  return row;
}

function ascending(percents: readonly number[]): number[] {
  return [...new Set(percents)].sort((a, b) => a - b);
}
