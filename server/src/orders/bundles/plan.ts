import type { BundleRow } from './sql.ts';
import { canTransition, transitioned } from './state.ts';

/** An eSIM's bundles after a change, and the events in order. Computed without the database, then written at once. */
export type Change = { bundles: readonly BundleRow[]; events: readonly BundleEvent[] };

/** `bundle` is the state right after the event. */
export type BundleEvent =
  | { type: 'bundle.activated' | 'bundle.depleted' | 'bundle.expired' | 'bundle.canceled'; bundle: BundleRow }
  | { type: 'bundle.usage_threshold'; bundle: BundleRow; percent: number };

const dayMs = 24 * 60 * 60 * 1000;

/** `bundles` are all of one eSIM, oldest first. */
export function noChange(bundles: readonly BundleRow[]): Change {
  return { bundles, events: [] };
}

/** Activates the oldest queued bundle, unless one is active already: at most one may be. */
export function promote(change: Change, at: Date): Change {
  const next = nextQueuedOf(change);
  if (!next || activeOf(change)) return change;
  // A late record may be older than a top-up, whose validity must not run before it was bought.
  const isTopUp = next !== change.bundles[0];
  const fromMs = isTopUp ? Math.max(at.getTime(), next.created_at.getTime()) : at.getTime();
  const bundle = {
    ...transitioned(next, 'activate'),
    activated_at: new Date(fromMs),
    expires_at: new Date(fromMs + next.validity_days * dayMs),
  };
  return withBundle(change, bundle, [{ type: 'bundle.activated', bundle }]);
}

/** Expires the active bundle if it is due, and activates the next one. Queued bundles have no expiry yet. */
export function expireDue(change: Change, now: Date, { promotes }: { promotes: boolean }): Change {
  const active = activeOf(change);
  if (!active?.expires_at || active.expires_at > now) return change;
  const expired = expireActive(change, active.expires_at);
  return promotes ? promote(expired, now) : expired;
}

export function expireActive(change: Change, at: Date): Change {
  const active = activeOf(change);
  if (!active) return change;
  const bundle = { ...transitioned(active, 'expire'), expires_at: at };
  return withBundle(change, bundle, [{ type: 'bundle.expired', bundle }]);
}

/** Cancels every bundle that is queued or active. */
export function cancelAll(change: Change): Change {
  return change.bundles
    .filter(({ status }) => canTransition('cancel', status))
    .map((bundle) => transitioned(bundle, 'cancel'))
    .reduce((result, bundle) => withBundle(result, bundle, [{ type: 'bundle.canceled', bundle }]), change);
}

/** Replaces a bundle with its new version. */
export function withBundle(change: Change, bundle: BundleRow, events: readonly BundleEvent[]): Change {
  return {
    bundles: change.bundles.map((other) => (other.id === bundle.id ? bundle : other)),
    events: [...change.events, ...events],
  };
}

export function activeOf({ bundles }: Change): BundleRow | undefined {
  return bundles.find(({ status }) => status === 'active');
}

export function nextQueuedOf({ bundles }: Change): BundleRow | undefined {
  return bundles.find(({ status }) => status === 'queued');
}
