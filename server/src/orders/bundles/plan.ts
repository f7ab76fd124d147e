import { covers } from '../service/service-of.ts';
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

/** Where the eSIM is; null if unknown, which every bundle covers: networks need not report countries. */
type Country = string | null;

/** Activates the oldest queued bundle that covers the country, unless an active one does. */
export function promote(change: Change, at: Date, country: Country): Change {
  const next = nextQueuedOf(change, country);
  if (!next || activeOf(change, country)) return change;
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

type Expiry = { promotes: boolean; country: Country };

/** Expires active bundles that are due, and activates the next one. Queued bundles have no expiry yet. */
export function expireDue(change: Change, now: Date, { promotes, country }: Expiry): Change {
  const isDue = ({ status, expires_at }: BundleRow) =>
    status === 'active' && expires_at !== null && expires_at <= now;
  if (!change.bundles.some(isDue)) return change;
  const due = change.bundles.filter(isDue);
  const expired = due.reduce((result, bundle) => expire(result, bundle, bundle.expires_at), change);
  return promotes ? promote(expired, now, country) : expired;
}

/** Expires one active bundle: the one that the next usage would fill, or any other if none covers the country. */
export function expireActive(change: Change, at: Date, country: Country): Change {
  const active = activeOf(change, country) ?? activeOf(change, null);
  return active ? expire(change, active, at) : change;
}

function expire(change: Change, active: BundleRow, at: Date | null): Change {
  const bundle = { ...transitioned(active, 'expire'), expires_at: at };
  return withBundle(change, bundle, [{ type: 'bundle.expired', bundle }]);
}

/** Cancels every bundle that is queued or active. */
export function cancelAll(change: Change): Change {
  return change.bundles
    .filter(({ status }) => canTransition('cancel', status))
    .reduce((result, bundle) => cancel(result, bundle), change);
}

export function cancel(change: Change, before: BundleRow): Change {
  const bundle = transitioned(before, 'cancel');
  return withBundle(change, bundle, [{ type: 'bundle.canceled', bundle }]);
}

/** Replaces a bundle with its new version. */
export function withBundle(change: Change, bundle: BundleRow, events: readonly BundleEvent[]): Change {
  return {
    bundles: change.bundles.map((other) => (other.id === bundle.id ? bundle : other)),
    events: [...change.events, ...events],
  };
}

/** Of the active bundles that cover the country, the one that expires first. */
export function activeOf({ bundles }: Change, country: Country): BundleRow | undefined {
  // A loop, because it runs several times for each usage record.
  let first: BundleRow | undefined;
  for (const bundle of bundles) {
    if (bundle.status !== 'active' || !covers(bundle, country)) continue;
    if (!first || endOf(bundle) < endOf(first)) first = bundle;
  }
  return first;
}

function endOf({ expires_at }: BundleRow): number {
  return expires_at?.getTime() ?? Number.POSITIVE_INFINITY;
}

/** The bundle that usage in this country would activate. */
export function nextQueuedOf({ bundles }: Change, country: Country): BundleRow | undefined {
  return bundles.find((bundle) => bundle.status === 'queued' && covers(bundle, country));
}
