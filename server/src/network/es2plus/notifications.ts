import { isEid } from '@simplane/contract';
import type { NotificationMap } from '../notification-map.ts';
import type { Observation, ObservedState } from '../port.ts';
import type { RequestOf } from './functions.ts';

/** An SM-DP+'s notification as an observation, or null when it tells nothing that we keep. */
export function observationOf(
  notification: RequestOf<'handleDownloadProgressInfo'>,
  map: NotificationMap,
  now: Date,
): Observation | null {
  const { iccid, timestamp, notificationPointId, notificationPointStatus, eid } = notification;
  const state = stateOf(map.get(notificationPointId), notificationPointStatus.status);
  if (!state) return null;
  // The newest word counts for ever: one from a clock that runs ahead would silence all that follow.
  const at = timestamp > now ? now : timestamp;
  return { kind: 'profile', iccid, at, state, ...(eid !== undefined && isEid(eid) && { eid }) };
}

/**
 * A download or an installation that failed leaves an error; a device that failed to enable, disable or delete a profile
 * leaves it as it was. A point mapped to `error` says so only when it failed.
 */
function stateOf(meant: ObservedState | undefined, status: string): ObservedState | null {
  if (meant === undefined) return null;
  const hasFailed = status === 'Failed' || status === 'Expired';
  if (!hasFailed) return meant === 'error' ? null : meant;
  return meant === 'downloaded' || meant === 'installed' || meant === 'error' ? 'error' : null;
}
