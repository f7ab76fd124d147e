import type { EsimStatus } from '@simplane/contract';

/** The status transitions of an eSIM. `to: null` means the status it had before it was suspended. */
export const esimTransitions = {
  provision: { from: ['provisioning'], to: 'provisioned' },
  fail: { from: ['provisioning'], to: 'failed' },
  activate: { from: ['provisioned'], to: 'active' },
  suspend: { from: ['provisioned', 'active'], to: 'suspended' },
  resume: { from: ['suspended'], to: null },
  terminate: { from: ['provisioning', 'provisioned', 'active', 'suspended', 'failed'], to: 'terminated' },
} as const satisfies Record<string, { from: readonly EsimStatus[]; to: EsimStatus | null }>;

export type EsimTransition = keyof typeof esimTransitions;

export function canTransition(transition: EsimTransition, status: EsimStatus): boolean {
  return sourcesOf(transition).includes(status);
}

/** The statuses from which a transition is allowed, for a conditional update. */
export function sourcesOf(transition: EsimTransition): readonly EsimStatus[] {
  return esimTransitions[transition].from;
}

/** The statuses in which an eSIM can be topped up. */
export const topUpStatuses: readonly EsimStatus[] = ['provisioned', 'active', 'suspended'];
