import { isEid } from '@simplane/contract';
import type { NotificationMap } from '../notification-map.ts';
import type { Observation, ObservedState } from '../port.ts';
import type { RequestOf } from './functions.ts';

/** Converts an SM-DP+'s notification to an observation, or null if it changes nothing. */
export function observationOf(
  notification: RequestOf<'handleDownloadProgressInfo'>,
  map: NotificationMap,
  now: Date,
): Observation | null {
  const { iccid, timestamp, notificationPointId, notificationPointStatus, eid } = notification;
  const state = stateOf(map.get(notificationPointId), notificationPointStatus.status);
  if (!state) return null;
  // The newest observation wins: one from a clock that is ahead would hide all later ones.
  const at = timestamp > now ? now : timestamp;
  return { kind: 'profile', iccid, at, state, ...(eid !== undefined && isEid(eid) && { eid }) };
}

/**
 * A failed download or installation is an error. A failure to enable, disable or delete a profile does not change it. A
 * point mapped to `error` counts only if it failed.
 */
function stateOf(mapped: ObservedState | undefined, status: string): ObservedState | null {
  if (mapped === undefined) return null;
  const hasFailed = status === 'Failed' || status === 'Expired';
  if (!hasFailed) return mapped === 'error' ? null : mapped;
  return mapped === 'downloaded' || mapped === 'installed' || mapped === 'error' ? 'error' : null;
}
