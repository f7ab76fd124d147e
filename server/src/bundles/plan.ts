import type { BundleRow } from './sql.ts';
import { mayHappen, moved } from './state.ts';

/** What an eSIM's bundles become, and what happened on the way, in order. Decided without a database, then written at once. */
export type Change = { bundles: readonly BundleRow[]; happenings: readonly Happening[] };

/** `bundle` is as it stood right after. */
export type Happening =
  | { type: 'bundle.activated' | 'bundle.depleted' | 'bundle.expired' | 'bundle.canceled'; bundle: BundleRow }
  | { type: 'bundle.usage_threshold'; bundle: BundleRow; percent: number };

const dayMs = 24 * 60 * 60 * 1000;

/** `bundles` are all of one eSIM, oldest first. */
export function noChange(bundles: readonly BundleRow[]): Change {
  return { bundles, happenings: [] };
}

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

/** Cancels every bundle that is queued or active. */
export function cancelAll(change: Change): Change {
  return change.bundles
    .filter(({ status }) => mayHappen('cancel', status))
    .map((bundle) => moved(bundle, 'cancel'))
    .reduce((so, bundle) => withBundle(so, bundle, [{ type: 'bundle.canceled', bundle }]), change);
}

/** Puts a bundle's new version in the place of the old one. */
export function withBundle(change: Change, bundle: BundleRow, happenings: readonly Happening[]): Change {
  return {
    bundles: change.bundles.map((other) => (other.id === bundle.id ? bundle : other)),
    happenings: [...change.happenings, ...happenings],
  };
}

export function activeOf({ bundles }: Change): BundleRow | undefined {
  return bundles.find(({ status }) => status === 'active');
}

export function nextQueuedOf({ bundles }: Change): BundleRow | undefined {
  return bundles.find(({ status }) => status === 'queued');
}
