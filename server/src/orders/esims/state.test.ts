import { type EsimStatus, esimStatuses } from '@simplane/contract';
import { expect, test } from 'vitest';
import { canTransition, type EsimTransition, esimTransitions, sourcesOf, topUpStatuses } from './state.ts';

/** Repeated on purpose: the table in state.ts must not change unnoticed. */
const expected: Record<EsimTransition, { from: EsimStatus[]; to: EsimStatus | null }> = {
  provision: { from: ['provisioning'], to: 'provisioned' },
  fail: { from: ['provisioning'], to: 'failed' },
  activate: { from: ['provisioned'], to: 'active' },
  suspend: { from: ['provisioned', 'active'], to: 'suspended' },
  resume: { from: ['suspended'], to: null },
  terminate: { from: ['provisioning', 'provisioned', 'active', 'suspended', 'failed'], to: 'terminated' },
};

test('an eSIM allows exactly these transitions; terminated is final', () => {
  expect(esimTransitions).toEqual(expected);
  for (const transition of Object.keys(expected) as EsimTransition[]) {
    expect(sourcesOf(transition)).toEqual(expected[transition].from);
    expect(esimStatuses.filter((status) => canTransition(transition, status)).sort()).toEqual(
      expected[transition].from.toSorted(),
    );
    expect(canTransition(transition, 'terminated')).toBe(false);
  }
});

test('an eSIM accepts bundles from its provisioning until it ends', () => {
  expect(esimStatuses.filter((status) => topUpStatuses.includes(status)).sort()).toEqual([
    'active',
    'provisioned',
    'suspended',
  ]);
});
