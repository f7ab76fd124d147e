import type { EventTypeName } from '@simplane/contract';

/** The stages after an order was accepted, in order. */
export const stages = ['provisioned', 'downloaded', 'installed', 'active'] as const;

export type Stage = (typeof stages)[number];

/** What an event says about the order of its eSIM: that a stage was reached, or not. */
export const meaningOf: { readonly [type in EventTypeName]?: { stage: Stage; isReached: boolean } } = {
  'esim.provisioned': { stage: 'provisioned', isReached: true },
  'esim.provisioning_failed': { stage: 'provisioned', isReached: false },
  'esim.downloaded': { stage: 'downloaded', isReached: true },
  'esim.download_failed': { stage: 'downloaded', isReached: false },
  'esim.installed': { stage: 'installed', isReached: true },
  'esim.enabled': { stage: 'installed', isReached: true },
  'esim.install_failed': { stage: 'installed', isReached: false },
  'esim.activated': { stage: 'active', isReached: true },
};

/** The account under which the sums of all accounts are stored. */
export const allAccounts = '00000000-0000-0000-0000-000000000000';

export const hourMs = 3_600_000;

/** The longest window of an overview. Counts of older orders are deleted. */
export const maxHours = 744;
