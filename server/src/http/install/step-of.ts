import type { EsimStatus, ProfileError, ProfileState } from '@simplane/contract';
import { isInstalled } from '../../orders/esims/profile-state.ts';
import type { Step, Topic } from './texts/texts.ts';

type Seen = { status: EsimStatus; profile_state: ProfileState };

/** An eSIM is active once it has attached to a network. What the phone did to the profile afterwards comes first. */
export function stepOf({ status, profile_state: state }: Seen): Step {
  if (status === 'suspended') return 'paused';
  if (state === 'deleted') return 'deleted';
  if (state === 'error') return 'failed';
  if (status === 'active') return 'online';
  if (isInstalled(state)) return 'installed';
  return state === 'downloaded' ? 'downloaded' : 'ready';
}

/** Whether the code is of use. Once a phone has the profile, nobody needs to see it again. */
export function canInstall(step: Step): boolean {
  return step === 'ready' || step === 'failed';
}

/** The answer to what went wrong. */
export const topicOfError: Record<ProfileError['code'], Topic> = {
  activation_code_refused: 'used',
  confirmation_code_refused: 'confirmation',
  device_memory_full: 'memory',
  device_not_eligible: 'phone',
  device_not_trusted: 'phone',
  device_refused: 'phone',
  download_expired: 'wifi',
  profile_not_available: 'used',
  other: 'wifi',
};
