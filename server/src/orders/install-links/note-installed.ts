import type { ProfileState } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { isInstalled } from '../esims/profile-state.ts';
import { markInstalled } from './sql.ts';

type Esim = { account_id: string; iccid: string; profile_state: ProfileState };

/** Notes on the eSIM's links that a device now has the profile. Other reports of the network cost nothing for it. */
export async function noteInstalled(
  tx: Queryable,
  before: Esim,
  { state, at }: { state: ProfileState; at: Date },
): Promise<void> {
  if (isInstalled(state) && !isInstalled(before.profile_state)) await markInstalled(tx, before, at);
}
