import type { ProfileState } from '@simplane/contract';

type Seen = { state: ProfileState; at: Date };

/** From first to last in a profile's life; decides between two that were seen at the same moment. */
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
 * What is known after an observation, or null when it tells nothing new. The newest word counts, by the network's own
 * time: a late report never undoes a newer one, and any order of arrival ends in the same state.
 */
export function nextProfileState(
  known: { state: ProfileState; at: Date | null },
  seen: Seen,
): (Seen & { isChange: boolean }) | null {
  if (!isOwnWord(known.state) && known.at && !isNewer(seen, { state: known.state, at: known.at }))
    return null;
  return { ...seen, isChange: seen.state !== known.state };
}

/** Whether a device has had the profile, as far as the network has told. */
export function wasDownloaded(state: ProfileState): boolean {
  return order.indexOf(state) >= order.indexOf('downloaded');
}

/** Ours, on our clock: whatever a network has seen came after it. */
function isOwnWord(state: ProfileState): boolean {
  return state === 'unknown' || state === 'released';
}

function isNewer(seen: Seen, known: Seen): boolean {
  if (seen.at.getTime() !== known.at.getTime()) return seen.at > known.at;
  return order.indexOf(seen.state) > order.indexOf(known.state);
}
