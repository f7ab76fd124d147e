import type { BundleStatus, EsimStatus } from '@simplane/contract';

export type BundleRow = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
  status: BundleStatus;
  data_bytes: number | null;
  used_bytes: number;
  thresholds: number[];
  validity_days: number;
  activated_at: Date | null;
  expires_at: Date | null;
  as_of: Date | null;
  created_at: Date;
};

/** The columns of an eSIM that its bundles depend on. */
export type BundledEsim = { account_id: string; iccid: string; status: EsimStatus };

export const columns = `account_id, id, iccid, product_id, status, data_bytes, used_bytes, thresholds, validity_days, activated_at,
  expires_at, as_of, created_at`;
