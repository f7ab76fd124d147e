import { activeOf, type Change, nextQueuedOf, withBundle } from './change.ts';
import { mayHappen, moved } from './state.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** The oldest queued bundle begins, unless one is active: at most one is. */
export function promote(change: Change, at: Date): Change {
  const next = nextQueuedOf(change);
  if (!next || activeOf(change)) return change;
  const bundle = {
    ...moved(next, 'activate'),
    activated_at: at,
    expires_at: new Date(at.getTime() + next.validity_days * dayMs),
  };
  return withBundle(change, bundle, [{ type: 'bundle.activated', bundle }]);
}

/** Ends the active bundle when its time is over, and lets the next one begin. Queued ones have no time yet. */
export function passTime(change: Change, now: Date, { promotes }: { promotes: boolean }): Change {
  const active = activeOf(change);
  if (!active?.expires_at || active.expires_at > now) return change;
  const expired = expireActive(change, active.expires_at);
  return promotes ? promote(expired, now) : expired;
}

export function expireActive(change: Change, at: Date): Change {
  const active = activeOf(change);
  if (!active) return change;
  const bundle = { ...moved(active, 'expire'), expires_at: at };
  return withBundle(change, bundle, [{ type: 'bundle.expired', bundle }]);
}

/** Ends all that has not ended by itself. */
export function cancelAll(change: Change): Change {
  return change.bundles
    .filter(({ status }) => mayHappen('cancel', status))
    .map((bundle) => moved(bundle, 'cancel'))
    .reduce((so, bundle) => withBundle(so, bundle, [{ type: 'bundle.canceled', bundle }]), change);
}
