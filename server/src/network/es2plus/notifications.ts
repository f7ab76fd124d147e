import { isEid } from '@simplane/contract';
import type { NotificationMap } from '../notification-map.ts';
import type { Observation, ObservedState, ProfileFailure } from '../port.ts';
import type { RequestOf } from './functions.ts';
import { describeProfileFailure } from './profile-failures.ts';

/** Converts an SM-DP+'s notification to an observation, or null if it changes nothing. */
export function observationOf(
  notification: RequestOf<'handleDownloadProgressInfo'>,
  map: NotificationMap,
  now: Date,
): Observation | null {
  const { iccid, timestamp, notificationPointId: point, notificationPointStatus: status, eid } = notification;
  const mapped = map.get(point);
  if (mapped === undefined) return null;
  // The newest observation wins: one from a clock that is ahead would hide all later ones.
  const at = timestamp > now ? now : timestamp;
  const seen = { kind: 'profile', iccid, at, ...(eid !== undefined && isEid(eid) && { eid }) } as const;
  const hasFailed = status.status === 'Failed' || status.status === 'Expired';
  if (!hasFailed) return mapped === 'error' ? null : { ...seen, state: mapped };
  const step = failedStep[mapped];
  return step ? { ...seen, state: 'error', failure: describeProfileFailure(step, point, status) } : null;
}

/** A failure to enable, disable or delete a profile does not change it. A point mapped to `error` counts only if it failed. */
const failedStep: Partial<Record<ObservedState, ProfileFailure['step']>> = {
  error: 'download',
  downloaded: 'download',
  installed: 'install',
};
