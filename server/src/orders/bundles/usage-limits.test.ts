import { describe, expect, test } from 'vitest';
import { bundleRow as bundle, later, start } from '../../../test/support/bundle-row.ts';
import * as usage from './count-usage.ts';
import * as plan from './plan.ts';
import { type Change, cancelAll, noChange, withBundle } from './plan.ts';
import type { BundleRow } from './sql.ts';

const most = Number.MAX_SAFE_INTEGER;

const countUsage = (before: Change, given: { bytes: number; at: Date }, options: { promotes: boolean }) =>
  usage.countUsage(before, { ...given, country: null }, options).change;
const promote = (change: Change, at: Date) => plan.promote(change, at, null);
const expireActive = (change: Change, at: Date) => plan.expireActive(change, at, null);

function use(bundles: BundleRow[], bytes: number, { at = start, promotes = true } = {}): Change {
  return countUsage(noChange(bundles), { bytes, at }, { promotes });
}

const seen = ({ events }: Change) =>
  events.map((one) => ('percent' in one ? `${one.bundle.id} ${one.percent}` : one.type));

describe('thresholds', () => {
  // In floating point 100 × used and percent × size round to the same number here.
  const size = most;
  test.each([
    [33, 2972375754064527],
    [99, 8917127262193581],
  ])(
    'are exact where the product exceeds a safe integer: %i %% is not reached a byte early',
    (percent, below) => {
      const before = [bundle('a', { status: 'active', data_bytes: size, thresholds: [percent] })];
      const early = use(before, below);
      expect(seen(early)).toEqual([]);
      expect(seen(countUsage(early, { bytes: 1, at: start }, { promotes: true }))).toEqual([`a ${percent}`]);
    },
  );

  test('of a huge bundle include the last byte: it is depleted at exactly 100 %', () => {
    const before = [bundle('a', { status: 'active', data_bytes: size, thresholds: [100] })];
    expect(seen(use(before, size - 1))).toEqual([]);
    expect(seen(use(before, size))).toEqual(['a 100', 'bundle.depleted']);
  });

  test('are never crossed on an unlimited bundle, which is never depleted either', () => {
    const change = use([bundle('a', { status: 'active', data_bytes: null })], most);
    expect(seen(change)).toEqual([]);
    expect(change.bundles[0]).toMatchObject({ used_bytes: most, status: 'active' });
  });

  test('given twice or out of order are reported once each, ascending', () => {
    expect(seen(use([bundle('a', { status: 'active', thresholds: [80, 50, 80] })], 900))).toEqual([
      'a 50',
      'a 80',
    ]);
    expect(seen(use([bundle('a', { status: 'active', thresholds: [50, 50] })], 500))).toEqual(['a 50']);
  });
});

describe('usage', () => {
  test.each(['depleted', 'expired', 'canceled'] as const)('never counts on a bundle that is %s', (status) => {
    const bundles = [bundle('a', { status, used_bytes: 10 })];
    const counted = usage.countUsage(
      noChange(bundles),
      { bytes: 70, at: start, country: null },
      { promotes: true },
    );
    expect(counted).toEqual({ change: noChange(bundles), parts: [{ place: 'uncovered', bytes: 70 }] });
  });

  test('never exceeds the size of a bundle: the rest is uncovered', () => {
    const counted = usage.countUsage(
      noChange([bundle('a'), bundle('b')]),
      { bytes: 2070, at: start, country: null },
      { promotes: true },
    );
    expect(counted.parts).toEqual([
      { place: 'a', bytes: 1000 },
      { place: 'b', bytes: 1000 },
      { place: 'uncovered', bytes: 70 },
    ]);
    expect(counted.change.bundles.map((b) => b.used_bytes)).toEqual([1000, 1000]);
  });

  test('of an eSIM whose bundles were all canceled is not counted', () => {
    const bundles = [bundle('a', { status: 'canceled' }), bundle('b', { status: 'canceled' })];
    expect(use(bundles, 70)).toEqual(noChange(bundles));
  });

  test('that fills a bundle exactly starts the next one without counting anything on it', () => {
    const change = use([bundle('a'), bundle('b')], 1000);
    expect(change.bundles[1]).toMatchObject({ status: 'active', used_bytes: 0, as_of: null });
  });

  test('of zero bytes starts the first bundle and counts nothing', () => {
    expect(use([bundle('a')], 0).bundles[0]).toMatchObject({ status: 'active', as_of: null });
  });

  test('spills over a bundle that is already over its size', () => {
    const bundles = [bundle('a', { status: 'active', used_bytes: 1200 }), bundle('b')];
    expect(use(bundles, 70).bundles.map((b) => [b.status, b.used_bytes])).toEqual([
      ['depleted', 1200],
      ['active', 70],
    ]);
  });

  test('moves as_of forward to the newest record', () => {
    const first = use([bundle('a')], 10);
    const second = countUsage(first, { bytes: 10, at: later(5000) }, { promotes: true });
    expect([first, second].map((change) => change.bundles[0]?.as_of)).toEqual([start, later(5000)]);
  });

  test('starts the next bundle at the time of the record that depleted the one before', () => {
    const running = promote(noChange([bundle('a'), bundle('b')]), start);
    const change = countUsage(running, { bytes: 1000, at: later(7000) }, { promotes: true });
    expect(change.bundles[1]?.activated_at).toEqual(later(7000));
  });
});

describe('plans', () => {
  test('replace one bundle and append to the earlier events', () => {
    const before = promote(noChange([bundle('a'), bundle('b')]), start);
    const after = withBundle(before, bundle('b', { used_bytes: 7 }), [
      { type: 'bundle.expired', bundle: bundle('b') },
    ]);
    expect(after.bundles.map((b) => b.used_bytes)).toEqual([0, 7]);
    expect(seen(after)).toEqual(['bundle.activated', 'bundle.expired']);
  });

  test('start no bundle while one is active, and none if none is queued', () => {
    const active = noChange([bundle('a', { status: 'active' }), bundle('b')]);
    expect(promote(active, start)).toBe(active);
    const none = noChange([bundle('a', { status: 'expired' })]);
    expect(promote(none, start)).toBe(none);
  });

  test('expire the active bundle now and leave the others unchanged', () => {
    const change = expireActive(noChange([bundle('a'), bundle('b', { status: 'active' })]), later(1));
    expect(change.bundles.map((b) => [b.status, b.expires_at])).toEqual([
      ['queued', null],
      ['expired', later(1)],
    ]);
    const none = noChange([bundle('a')]);
    expect(expireActive(none, start)).toBe(none);
  });

  test('never expire a bundle without an end', () => {
    const endless = noChange([bundle('a', { status: 'active', expires_at: null })]);
    expect(plan.expireDue(endless, later(1e12), { promotes: true, country: null })).toBe(endless);
  });

  test('begin without events', () => {
    expect(noChange([]).events).toEqual([]);
    expect(cancelAll(noChange([]))).toEqual(noChange([]));
  });
});
