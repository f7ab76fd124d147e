import type { ProfileState } from '@simplane/contract';

type Seen = { state: ProfileState; at: Date };

/** In life-cycle order, which breaks ties between observations of the same time. */
const order: readonly ProfileState[] = [
  'unknown',
  'released',
  'error',
  'downloaded',
  'installed',
  'enabled',
  'disabled',
  'deleted',
];

/**
 * The state after an observation, or null if the observation is not newer. The newest observation by the network's clock
 * wins, so any order of arrival leads to the same state.
 */
export function nextProfileState(
  known: { state: ProfileState; at: Date | null },
  seen: Seen,
): (Seen & { isChange: boolean }) | null {
  if (!isSetByUs(known.state) && known.at && !isNewer(seen, { state: known.state, at: known.at }))
    return null;
  return { ...seen, isChange: seen.state !== known.state };
}

/** Whether a device has downloaded the profile, as far as the network has reported. */
export function wasDownloaded(state: ProfileState): boolean {
  return order.indexOf(state) >= order.indexOf('downloaded');
}

/** Whether a device has the profile, as far as the network has reported. */
export function isInstalled(state: ProfileState): boolean {
  return state === 'installed' || state === 'enabled' || state === 'disabled';
}

/** Whether a failure says nothing about the profile: a device already has it, and another one tried its QR code again. */
export function isPastFailure(known: ProfileState, failed: 'download' | 'install'): boolean {
  const done = failed === 'download' ? 'downloaded' : 'installed';
  return known !== 'deleted' && order.indexOf(known) >= order.indexOf(done);
}

/** Set by us, on our clock: any observation by the network is later. */
function isSetByUs(state: ProfileState): boolean {
  return state === 'unknown' || state === 'released';
}

function isNewer(seen: Seen, known: Seen): boolean {
  if (seen.at.getTime() !== known.at.getTime()) return seen.at > known.at;
  return order.indexOf(seen.state) > order.indexOf(known.state);
}
