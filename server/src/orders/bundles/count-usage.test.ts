import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bundleRow, dayMs, later, start } from '../../../test/support/bundle-row.ts';
import * as usage from './count-usage.ts';
import * as plan from './plan.ts';
import { type Change, cancelAll, noChange } from './plan.ts';
import type { BundleRow } from './sql.ts';
import { bundleTransitions, canTransition, transitioned } from './state.ts';

/** Usage in an unknown country, which every bundle covers. */
const countUsage = (before: Change, given: { bytes: number; at: Date }, options: { promotes: boolean }) =>
  usage.countUsage(before, { ...given, country: null }, options).change;
const promote = (change: Change, at: Date) => plan.promote(change, at, null);
const expireDue = (change: Change, now: Date, options: { promotes: boolean }) =>
  plan.expireDue(change, now, { ...options, country: null });

const bundle = (index: number, fields?: Partial<BundleRow>) => bundleRow(`bundle-${index}`, fields);

const sizes = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.constant(Number.MAX_SAFE_INTEGER));
const bundlesOf = fc
  .array(
    fc.record({
      data_bytes: fc.option(sizes, { freq: 8 }),
      thresholds: fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 5 }),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((all) => all.map((fields, index) => bundle(index, fields)));

type Record = { id: number; bytes: number; at: Date };
const records = fc
  .array(
    fc.record({
      bytes: fc.oneof(fc.integer({ min: 1, max: 1500 }), fc.constant(1_000_000_000_000_000)),
      at: fc.nat(10 * dayMs).map(later),
    }),
    { maxLength: 15 },
  )
  .map((all) => all.map((record, id): Record => ({ id, ...record })));

/** Two arrivals of the same records, each with its own order and repetitions. */
const arrivals = records.chain((all) => {
  const arrival = fc
    .tuple(
      fc.shuffledSubarray(all, { minLength: all.length }),
      fc.subarray(all),
      fc.array(fc.nat(), { minLength: all.length, maxLength: all.length }),
    )
    .map(([once, again, positions]) =>
      again.reduce(
        (list, record, i) => list.toSpliced((positions[i] ?? 0) % (list.length + 1), 0, record),
        once,
      ),
    );
  return fc.tuple(fc.constant(all), arrival, arrival);
});

/** Like the database, counts a record only if its id is new. */
function countAll(bundles: BundleRow[], arrival: Record[], promotes = true): Change {
  const seen = new Set<number>();
  let change = noChange(bundles);
  for (const record of arrival) {
    if (seen.has(record.id)) continue;
    seen.add(record.id);
    change = countUsage(change, record, { promotes });
  }
  return change;
}

function levels({ events }: Change): string[] {
  return events.flatMap((one) =>
    one.type === 'bundle.usage_threshold' ? [`${one.bundle.id} ${one.percent}`] : [],
  );
}

describe('usage', () => {
  test('and thresholds per bundle are the same for any order and repetition of the records', () => {
    fc.assert(
      fc.property(bundlesOf, arrivals, fc.boolean(), (bundles, [all, one, other], promotes) => {
        const [first, second] = [countAll(bundles, one, promotes), countAll(bundles, other, promotes)];
        expect(first.bundles.map((b) => b.used_bytes)).toEqual(second.bundles.map((b) => b.used_bytes));
        expect(first.bundles.map((b) => b.status)).toEqual(second.bundles.map((b) => b.status));
        expect(levels(first).sort()).toEqual(levels(second).sort());
        expect(first.bundles.map((b) => b.used_bytes)).toEqual(filledInTurn(bundles, all));
      }),
      { numRuns: 2_000 },
    );
  });

  /** The independent model: fills the bundles one after the other with the sum. */
  function filledInTurn(bundles: BundleRow[], all: Record[]): number[] {
    let rest = all.reduce((sum, { bytes }) => sum + BigInt(bytes), 0n);
    return bundles.map(({ data_bytes }) => {
      const taken = data_bytes === null || rest < BigInt(data_bytes) ? rest : BigInt(data_bytes);
      rest -= taken;
      return Math.min(Number(taken), Number.MAX_SAFE_INTEGER);
    });
  }

  test('crosses each threshold that it reaches exactly once, in ascending order', () => {
    fc.assert(
      fc.property(bundlesOf, arrivals, (bundles, [, arrival]) => {
        const change = countAll(bundles, arrival);
        for (const after of change.bundles) {
          const fired = change.events.flatMap((one) =>
            one.type === 'bundle.usage_threshold' && one.bundle.id === after.id ? [one.percent] : [],
          );
          const { data_bytes: size } = after;
          const reached = [...new Set(after.thresholds)]
            .filter(
              (level) => size !== null && BigInt(after.used_bytes) * 100n >= BigInt(level) * BigInt(size),
            )
            .sort((a, b) => a - b);
          expect(fired).toEqual(reached);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  test('keeps at most one bundle active, activates them oldest first and depletes each once', () => {
    fc.assert(
      fc.property(bundlesOf, arrivals, (bundles, [, arrival]) => {
        let change = noChange(bundles);
        for (const record of arrival) {
          change = countUsage(change, record, { promotes: true });
          expect(change.bundles.filter((b) => b.status === 'active').length).toBeLessThanOrEqual(1);
        }
        const of = (type: string) => change.events.filter((h) => h.type === type).map((h) => h.bundle.id);
        expect(of('bundle.activated')).toEqual(
          bundles.map((b) => b.id).slice(0, of('bundle.activated').length),
        );
        expect(of('bundle.depleted')).toEqual(
          change.bundles.filter((b) => b.status === 'depleted').map((b) => b.id),
        );
      }),
    );
  });

  test('that jumps over all thresholds emits thresholds, depletion and spill-over in order', () => {
    const change = countUsage(
      noChange([bundle(0), bundle(1)]),
      { bytes: 1600, at: start },
      { promotes: true },
    );
    expect(
      change.events.map((h) => [h.type, h.bundle.id, 'percent' in h ? h.percent : null, h.bundle.used_bytes]),
    ).toEqual([
      ['bundle.activated', 'bundle-0', null, 0],
      ['bundle.usage_threshold', 'bundle-0', 50, 1000],
      ['bundle.usage_threshold', 'bundle-0', 80, 1000],
      ['bundle.usage_threshold', 'bundle-0', 100, 1000],
      ['bundle.depleted', 'bundle-0', null, 1000],
      ['bundle.activated', 'bundle-1', null, 0],
      ['bundle.usage_threshold', 'bundle-1', 50, 600],
    ]);
  });

  test('on an inactive eSIM activates the next bundle only when bytes spill over to it', () => {
    const exact = countUsage(
      noChange([bundle(0), bundle(1)]),
      { bytes: 1000, at: start },
      { promotes: false },
    );
    expect(exact.bundles.map((b) => b.status)).toEqual(['depleted', 'queued']);
    const over = countUsage(exact, { bytes: 1, at: start }, { promotes: false });
    expect(over.bundles.map((b) => b.status)).toEqual(['depleted', 'active']);
  });

  test('in a late record never activates the next bundle before the one it fills, nor moves as_of back', () => {
    const first = promote(noChange([bundle(0), bundle(1)]), later(dayMs));
    const newest = countUsage(first, { bytes: 1, at: later(2 * dayMs) }, { promotes: true });
    const late = countUsage(newest, { bytes: 999, at: start }, { promotes: true });
    expect(late.bundles[0]?.as_of).toEqual(later(2 * dayMs));
    expect(late.bundles[1]?.activated_at).toEqual(later(dayMs));
  });

  test.each([true, false])(
    'in a late record never activates a top-up before it was bought (%s)',
    (isActive) => {
      const first = isActive
        ? bundle(0, { status: 'active', activated_at: start, used_bytes: 999 })
        : bundle(0, { status: 'depleted', activated_at: start, used_bytes: 1000 });
      const topUp = bundle(1, { created_at: later(5 * dayMs), validity_days: 1 });
      const late = { bytes: 2, at: later(dayMs) };
      const { bundles } = countUsage(noChange([first, topUp]), late, { promotes: isActive });
      expect(bundles[1]).toMatchObject({
        status: 'active',
        activated_at: later(5 * dayMs),
        expires_at: later(6 * dayMs),
        as_of: later(dayMs),
      });
    },
  );

  test('activates the first bundle at its own time, even if the order ended later', () => {
    const ordered = bundle(0, { created_at: later(dayMs) });
    const { bundles } = countUsage(noChange([ordered]), { bytes: 2, at: start }, { promotes: true });
    expect(bundles[0]).toMatchObject({ status: 'active', activated_at: start });
  });

  test('is not counted if the eSIM has no bundle', () => {
    expect(countUsage(noChange([]), { bytes: 5, at: start }, { promotes: true })).toEqual(noChange([]));
  });
});

describe('time', () => {
  test('expires the active bundle exactly at its expiry and activates the next one', () => {
    const running = promote(noChange([bundle(0), bundle(1)]), start);
    expect(expireDue(running, later(30 * dayMs - 1), { promotes: true })).toBe(running);
    const over = expireDue(running, later(30 * dayMs), { promotes: true });
    expect(over.bundles.map((b) => b.status)).toEqual(['expired', 'active']);
    expect(over.bundles[1]?.expires_at).toEqual(later(60 * dayMs));
    expect(expireDue(running, later(30 * dayMs), { promotes: false }).bundles[1]?.status).toBe('queued');
  });

  test('never expires a queued bundle', () => {
    const queued = noChange([bundle(0)]);
    expect(expireDue(queued, later(10_000 * dayMs), { promotes: true })).toBe(queued);
  });
});

describe('states', () => {
  test('canceling affects only queued and active bundles', () => {
    const all = (['depleted', 'expired', 'canceled', 'active', 'queued'] as const).map((status, index) =>
      bundle(index, { status }),
    );
    const change = cancelAll(noChange(all));
    expect(change.bundles.map((b) => b.status)).toEqual([
      'depleted',
      'expired',
      'canceled',
      'canceled',
      'canceled',
    ]);
    expect(change.events.map((h) => h.bundle.id)).toEqual(['bundle-3', 'bundle-4']);
  });

  test('a final status allows no transition, and attempting one throws', () => {
    for (const status of ['expired', 'canceled'] as const) {
      for (const transition of Object.keys(bundleTransitions) as (keyof typeof bundleTransitions)[]) {
        expect(canTransition(transition, status)).toBe(false);
        expect(() => transitioned(bundle(0, { status }), transition)).toThrow(status);
      }
    }
  });
});
