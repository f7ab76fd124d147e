import { type BundleStatus, bundleStatuses } from '@simplane/contract';
import { expect, test } from 'vitest';
import { type BundleTransition, bundleTransitions, canTransition, transitioned } from './state.ts';

/** Repeated on purpose: the table in state.ts must not change unnoticed. */
const expected: Record<BundleTransition, { from: BundleStatus[]; to: BundleStatus }> = {
  activate: { from: ['queued'], to: 'active' },
  deplete: { from: ['active'], to: 'depleted' },
  restore: { from: ['depleted'], to: 'active' },
  expire: { from: ['active'], to: 'expired' },
  cancel: { from: ['queued', 'active'], to: 'canceled' },
};

test('a bundle allows exactly these transitions, and any other throws', () => {
  expect(bundleTransitions).toEqual(expected);
  for (const [transition, { from, to }] of Object.entries(expected) as [
    BundleTransition,
    (typeof expected)[BundleTransition],
  ][]) {
    for (const status of bundleStatuses) {
      expect(canTransition(transition, status)).toBe(from.includes(status));
      if (from.includes(status))
        expect(transitioned({ id: 'a', status }, transition)).toEqual({ id: 'a', status: to });
      else
        expect(() => transitioned({ status }, transition)).toThrow(`transition ${transition} is not allowed`);
    }
  }
});
