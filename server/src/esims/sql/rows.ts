import type { EsimStatus, ProfileState } from '@simplane/contract';

export type EsimRow = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
  status: EsimStatus;
  resumes_to: 'provisioned' | 'active' | null;
  profile_state: ProfileState;
  profile_observed_at: Date | null;
  country: string | null;
  country_observed_at: Date | null;
  eid: string | null;
  metadata: Record<string, string>;
  description: string | null;
  smdp_address: string | null;
  /** Sealed, and null until the eSIM is provisioned: before that its order has it. */
  matching_id: string | null;
  confirmation_code_required: boolean;
  created_at: Date;
  provisioned_at: Date | null;
};

export const columns = `account_id, id, iccid, product_id, status, resumes_to, profile_state, profile_observed_at, country,
  country_observed_at, eid, metadata, description, smdp_address, matching_id, confirmation_code_required, created_at,
  provisioned_at`;
