import type { BundleStatus } from '@simplane/contract';

/** What may happen to a bundle, and from where. Depleted, expired and canceled are final. */
export const bundleTransitions = {
  activate: { from: ['queued'], to: 'active' },
  deplete: { from: ['active'], to: 'depleted' },
  expire: { from: ['active'], to: 'expired' },
  cancel: { from: ['queued', 'active'], to: 'canceled' },
} as const satisfies Record<string, { from: readonly BundleStatus[]; to: BundleStatus }>;

export type BundleTransition = keyof typeof bundleTransitions;

export function mayHappen(transition: BundleTransition, status: BundleStatus): boolean {
  const from: readonly BundleStatus[] = bundleTransitions[transition].from;
  return from.includes(status);
}

/** The bundle after the transition; asking for one that may not happen is a bug. */
export function moved<B extends { status: BundleStatus }>(bundle: B, transition: BundleTransition): B {
  if (!mayHappen(transition, bundle.status)) {
    throw new Error(`a bundle that is ${bundle.status} cannot ${transition}`);
  }
  return { ...bundle, status: bundleTransitions[transition].to };
}
