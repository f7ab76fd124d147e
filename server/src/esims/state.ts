import type { EsimStatus } from '@simplane/contract';

/** What may happen to an eSIM, and from where. `null` stands for "what it was before it was suspended". */
export const esimTransitions = {
  provision: { from: ['provisioning'], to: 'provisioned' },
  fail: { from: ['provisioning'], to: 'failed' },
  activate: { from: ['provisioned'], to: 'active' },
  suspend: { from: ['provisioned', 'active'], to: 'suspended' },
  resume: { from: ['suspended'], to: null },
  terminate: { from: ['provisioning', 'provisioned', 'active', 'suspended', 'failed'], to: 'terminated' },
} as const satisfies Record<string, { from: readonly EsimStatus[]; to: EsimStatus | null }>;

export type EsimTransition = keyof typeof esimTransitions;

export function mayHappen(transition: EsimTransition, status: EsimStatus): boolean {
  return sourcesOf(transition).includes(status);
}

/** For a conditional update: the statuses that a change may start from. */
export function sourcesOf(transition: EsimTransition): readonly EsimStatus[] {
  return esimTransitions[transition].from;
}

/** An eSIM that can take a top-up. */
export const canTakeBundles: readonly EsimStatus[] = ['provisioned', 'active', 'suspended'];
