import type { ProfileError, ProfileState } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';
import type { LockedEsim } from '../../esims/lock.ts';
import { updateQueued } from './update-queued.ts';

export async function updateProfile(
  tx: Queryable,
  esim: LockedEsim,
  profile: { state: ProfileState; at: Date; eid: string | null; error: ProfileError | null },
): Promise<void> {
  const { state, at, eid, error } = profile;
  if (esim.is_queued) {
    const observed = { profile_state: state, profile_observed_at: at, profile_error: error, eid };
    return updateQueued(tx, esim, observed);
  }
  await tx.query(
    {
      name: 'esim_update_profile',
      text: `
update esims
set profile_state = $3,
    profile_observed_at = $4,
    eid = $5,
    profile_error = $6
where account_id = $1 and id = $2`,
    },
    [esim.account_id, esim.id, state, at, eid, error && JSON.stringify(error)],
  );
}
