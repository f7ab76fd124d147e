import type { EsimStatus, ProfileError, ProfileState } from '@simplane/contract';

export type EsimRow = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
  status: EsimStatus;
  resumes_to: 'provisioned' | 'active' | null;
  profile_state: ProfileState;
  profile_observed_at: Date | null;
  /** Of the state `error`. An older release that stored a later state has not removed it. */
  profile_error: ProfileError | null;
  country: string | null;
  country_observed_at: Date | null;
  eid: string | null;
  metadata: Record<string, string>;
  description: string | null;
  smdp_address: string | null;
  /** Sealed. Null until the eSIM is provisioned; until then the order has it. */
  matching_id: string | null;
  confirmation_code_required: boolean;
  created_at: Date;
  provisioned_at: Date | null;
  execution_id: string;
  /** The order is open: the eSIM is the order's row in the queue, and gets its own row when the order ends. */
  is_queued: boolean;
};

export const columns = `account_id, id, iccid, product_id, status, resumes_to, profile_state, profile_observed_at,
  profile_error, country, country_observed_at, eid, metadata, description, smdp_address, matching_id, confirmation_code_required, created_at,
  provisioned_at, execution_id, false as is_queued`;

/** Of an eSIM in the queue. */
export const queuedEid = `coalesce(observed ->> 'eid', input ->> 'eid')`;
export const queuedMetadata = `coalesce(input -> 'metadata', '{}')`;

/** `EsimRow` from the queue. */
export const queuedColumns = `account_id, id, iccid, product_id, 'provisioning' as status, null as resumes_to,
  coalesce(observed ->> 'profile_state', 'unknown') as profile_state,
  (observed ->> 'profile_observed_at')::timestamptz as profile_observed_at,
  nullif(observed -> 'profile_error', 'null') as profile_error, observed ->> 'country' as country,
  (observed ->> 'country_observed_at')::timestamptz as country_observed_at,
  ${queuedEid} as eid, ${queuedMetadata} as metadata,
  input ->> 'description' as description, null as smdp_address, null as matching_id, false as confirmation_code_required,
  created_at, null::timestamptz as provisioned_at, id as execution_id, true as is_queued`;

/** Queue rows that represent an eSIM. A terminated eSIM already has its own row. */
export const isQueuedEsim = `type = 'esim.provision' and iccid is not null and not is_terminated`;
