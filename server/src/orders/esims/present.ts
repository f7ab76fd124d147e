import type { Esim, ProfileError } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import type { EsimRow } from './sql/esims.ts';

export function presentEsim(row: EsimRow): Esim {
  return {
    iccid: row.iccid,
    object: 'esim',
    status: row.status,
    profile: {
      state: row.profile_state,
      updated_at: row.profile_observed_at && unixSeconds(row.profile_observed_at),
      ...withError('error', row),
    },
    product_id: row.product_id,
    eid: row.eid,
    reference: row.reference,
    description: row.description,
    metadata: row.metadata,
    country: row.country,
    uncovered_bytes: row.uncovered_bytes,
    created: unixSeconds(row.created_at),
    provisioned_at: row.provisioned_at && unixSeconds(row.provisioned_at),
  };
}

/** The profile's error under the given name, only while the profile is in that state. */
export function withError<Name extends string>(
  name: Name,
  { profile_state, profile_error }: EsimRow,
): { [key in Name]?: ProfileError } {
  if (profile_state !== 'error' || profile_error === null) return {};
  return { [name]: profile_error } as { [key in Name]: ProfileError };
}
