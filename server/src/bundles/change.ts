import type { BundleRow } from './sql.ts';

/** What an eSIM's bundles become, and what happened on the way, in order. Decided without a database, then written at once. */
export type Change = { bundles: readonly BundleRow[]; happenings: readonly Happening[] };

/** `bundle` is as it stood right after. */
export type Happening =
  | { type: 'bundle.activated' | 'bundle.depleted' | 'bundle.expired' | 'bundle.canceled'; bundle: BundleRow }
  | { type: 'bundle.usage_threshold'; bundle: BundleRow; percent: number };

/** `bundles` are all of one eSIM, oldest first. */
export function noChange(bundles: readonly BundleRow[]): Change {
  return { bundles, happenings: [] };
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
