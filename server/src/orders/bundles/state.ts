import type { BundleStatus } from '@simplane/contract';

/** The status transitions of a bundle. Expired and canceled are final; only a corrected record ends a depletion. */
export const bundleTransitions = {
  activate: { from: ['queued'], to: 'active' },
  deplete: { from: ['active'], to: 'depleted' },
  restore: { from: ['depleted'], to: 'active' },
  expire: { from: ['active'], to: 'expired' },
  cancel: { from: ['queued', 'active'], to: 'canceled' },
} as const satisfies Record<string, { from: readonly BundleStatus[]; to: BundleStatus }>;

export type BundleTransition = keyof typeof bundleTransitions;

export function canTransition(transition: BundleTransition, status: BundleStatus): boolean {
  const from: readonly BundleStatus[] = bundleTransitions[transition].from;
  return from.includes(status);
}

/** The bundle after the transition. Throws if the transition is not allowed, since that is a bug. */
export function transitioned<B extends { status: BundleStatus }>(bundle: B, transition: BundleTransition): B {
  if (!canTransition(transition, bundle.status)) {
    throw new Error(`transition ${transition} is not allowed for a bundle that is ${bundle.status}`);
  }
  return { ...bundle, status: bundleTransitions[transition].to };
}
