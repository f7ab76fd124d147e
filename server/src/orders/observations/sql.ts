import type { ProfileError, ProfileState } from '@simplane/contract';
import { hasJustLeft, isElsewhere, isHere } from '../../accounts/moves/is-here.ts';
import type { Queryable } from '../../platform/db/database.ts';
import { list, many, run } from '../../platform/db/statement.ts';
import type { LockedEsim } from '../esims/lock.ts';
import type { ServedEsim } from '../service/served-esim.ts';
import type { UsedEsim } from './plan-usage.ts';

/** The columns that counting usage needs. `terminated_at` is null for one that a release without this column has terminated. */
export type CarriedEsim = UsedEsim &
  ServedEsim & { created_at: Date } & {
    terminated_at: Date | null;
    erased_at: Date | null;
  };

/** Locks eSIMs in ICCID order, so that transactions with overlapping sets never deadlock. */
export const lockCarried = many<CarriedEsim, [iccids: readonly string[], ofAccount: string | null]>(
  'esim_lock_carried',
)`
select account_id, id, iccid, product_id, reference, status, country, country_observed_at, uncovered_bytes, late_bytes,
  not_covered_on::text, not_covered_in, created_at, terminated_at, erased_at, resumes_to, service, service_version, pending_change
from esims
where iccid = any($1) and ($2::uuid is null or account_id = $2) and ${isHere('esims.account_id')}
order by iccid
for update`;

/** ICCIDs that exist but could not be locked, because their orders are open or have just ended. */
export const findUnready = list<string, [iccids: readonly string[], ofAccount: string | null]>(
  'esim_find_unready',
)`
select iccid
from execution_queue
where iccid = any($1)
  and type = 'esim.provision'
  and ($2::uuid is null or account_id = $2)
union
select iccid
from esims
where iccid = any($1)
  and ($2::uuid is null or account_id = $2)`;

/** Of these ICCIDs, those of eSIMs that this cell has. The eSIMs of an account that is about to leave are still here. */
export const findOwnIccids = list<string, [iccids: readonly string[]]>('esim_find_own_iccids')`
select iccid
from esims
where iccid = any($1) and not ${isElsewhere('esims.account_id')}
union
select iccid
from execution_queue
where iccid = any($1)
  and type = 'esim.provision'
  and not ${isElsewhere('execution_queue.account_id')}`;

/** Of these ICCIDs, those of eSIMs that this cell had until a moment ago. */
export const findLeftIccids = list<string, [iccids: readonly string[]]>('esim_find_left_iccids')`
select iccid
from esims
where iccid = any($1) and ${hasJustLeft('esims.account_id')}`;

/** Reports about an eSIM whose order is open are stored in the queue, and move to the eSIM's row when it is inserted. */
const updateQueued = run<[esim: LockedEsim, observed: Partial<Record<keyof LockedEsim, unknown>>]>(
  'esim_observe_queued',
  ({ account_id, id }, observed) => [account_id, id, JSON.stringify(observed)],
)`
update execution_queue
set observed = coalesce(observed, '{}') || $3
where account_id = $1 and id = $2`;

type Seen = { country: string; at: Date };

const updateStoredCountry = run<[esim: LockedEsim, seen: Seen]>(
  'esim_update_country',
  ({ account_id, id }, { country, at }) => [account_id, id, country, at],
)`
update esims
set country = $3,
    country_observed_at = $4
where account_id = $1 and id = $2`;

export function updateCountry(tx: Queryable, esim: LockedEsim, seen: Seen): Promise<void> {
  if (!esim.is_queued) return updateStoredCountry(tx, esim, seen);
  return updateQueued(tx, esim, { country: seen.country, country_observed_at: seen.at });
}

type Profile = { state: ProfileState; at: Date; eid: string | null; error: ProfileError | null };

const updateStoredProfile = run<[esim: LockedEsim, profile: Profile]>(
  'esim_update_profile',
  ({ account_id, id }, { state, at, eid, error }) => [
    account_id,
    id,
    state,
    at,
    eid,
    error && JSON.stringify(error),
  ],
)`
update esims
set profile_state = $3,
    profile_observed_at = $4,
    eid = $5,
    profile_error = $6
where account_id = $1 and id = $2`;

export function updateProfile(tx: Queryable, esim: LockedEsim, profile: Profile): Promise<void> {
  if (!esim.is_queued) return updateStoredProfile(tx, esim, profile);
  const { state, at, eid, error } = profile;
  return updateQueued(tx, esim, { profile_state: state, profile_observed_at: at, profile_error: error, eid });
}
