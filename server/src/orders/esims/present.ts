import type { Esim, EsimService, ProfileError } from '@simplane/contract';
import { unixSeconds } from '../../platform/clock.ts';
import { lowestUuid } from '../../platform/ids/uuid-range.ts';
import { serviceOf } from '../service/service-of.ts';
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
    service: presentService(row),
    created: unixSeconds(row.created_at),
    provisioned_at: row.provisioned_at && unixSeconds(row.provisioned_at),
  };
}

/** Of an eSIM that a release without it has written, what follows from the status alone. */
function presentService(row: EsimRow): EsimService {
  const { state, reason, kbps, bundle_id, until } =
    row.service ?? serviceOf(row.status, unknownBundles, null, new Date(0)).content;
  return {
    state,
    reason,
    kbps,
    bundle_id: row.service && bundle_id,
    until,
    version: row.service_version,
    since: row.service_changed_at && unixSeconds(row.service_changed_at),
    applied_version: row.applied_version,
    applied_at: row.applied_at && unixSeconds(row.applied_at),
  };
}

const unknownBundles = [
  {
    id: lowestUuid,
    status: 'queued',
    countries: null,
    expires_at: null,
    after_depletion: null,
  },
] as const;

/** The profile's error under the given name, only while the profile is in that state. */
export function withError<Name extends string>(
  name: Name,
  { profile_state, profile_error }: EsimRow,
): { [key in Name]?: ProfileError } {
  if (profile_state !== 'error' || profile_error === null) return {};
  return { [name]: profile_error } as { [key in Name]: ProfileError };
}
