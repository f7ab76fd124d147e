import type { BundleRow } from '../../src/orders/bundles/sql.ts';

export const start = new Date('2026-11-01T00:00:00Z');
export const dayMs = 86_400_000;
export const later = (ms: number) => new Date(start.getTime() + ms);

/** A queued bundle of 1,000 bytes and 30 days. */
export function bundleRow(id: string, fields: Partial<BundleRow> = {}): BundleRow {
  return {
    account_id: 'account',
    id,
    iccid: '8999901000000000018',
    product_id: 'prod',
    reference: null,
    status: 'queued',
    data_bytes: 1000,
    used_bytes: 0,
    thresholds: [50, 80, 100],
    validity_days: 30,
    activated_at: null,
    expires_at: null,
    as_of: null,
    created_at: start,
    countries: null,
    price: null,
    after_depletion: null,
    most_used_bytes: null,
    ...fields,
  };
}
