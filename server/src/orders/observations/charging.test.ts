import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bundleRow, dayMs, later, start } from '../../../test/support/bundle-row.ts';
import { bytesAt, late, type Parts, uncovered } from '../bundles/count-usage.ts';
import { expireActive, noChange } from '../bundles/plan.ts';
import { type KnownRecord, planUsage, type UsageEvent, type UsedEsim } from './plan-usage.ts';

type BundleRow = Parameters<typeof planUsage>[1][number];
type Usage = Parameters<typeof planUsage>[2][number];

const esim: UsedEsim = {
  status: 'active',
  country: null,
  country_observed_at: null,
  uncovered_bytes: 0,
  late_bytes: 0,
  not_covered_on: null,
  not_covered_in: null,
};

/** What the database keeps between two batches. */
type Books = {
  esim: UsedEsim;
  bundles: readonly BundleRow[];
  stored: Map<string, Stored>;
  events: UsageEvent[];
};
type Stored = KnownRecord & { bytes: number };

const open = (bundles: readonly BundleRow[], fields: Partial<UsedEsim> = {}): Books => ({
  esim: { ...esim, ...fields },
  bundles,
  stored: new Map(),
  events: [],
});

const record = (id: string, bytes: number, fields: Partial<Usage> = {}): Usage => ({
  ...{ id, bytes, at: start, country: null, corrects: null },
  ...fields,
});

/** Counts a batch like the server: records counted before are left out, the others sorted by time, corrections last. */
function take(books: Books, batch: readonly Usage[], now = later(dayMs)): Books {
  const fresh = [...new Map(batch.map((one) => [one.id, one])).values()].filter(
    ({ id }) => !books.stored.has(id),
  );
  const timeOf = ({ corrects, at }: Usage) => (corrects === null ? at.getTime() : Number.MAX_SAFE_INTEGER);
  const sorted = fresh.toSorted((a, b) => timeOf(a) - timeOf(b));
  const plan = planUsage(books.esim, books.bundles, sorted, { now, known: books.stored });
  const stored = new Map(books.stored);
  for (const { record: given, country, parts } of plan.counted) {
    stored.set(given.id, { bytes: given.bytes, country, parts, isCorrected: false });
  }
  for (const { id } of plan.corrected) {
    stored.set(id, { ...(stored.get(id) as Stored), bytes: 0, parts: [], isCorrected: true });
  }
  const { esim: after, bundles, events } = plan;
  const balanced = { esim: after, bundles, stored, events: [...books.events, ...events] };
  expectBalanced(balanced);
  return balanced;
}

const sum = (amounts: Iterable<number>) => [...amounts].reduce((total, bytes) => total + bytes, 0);

/** Always true: the records add up to what was used, uncovered and late, and each is where its parts say. */
function expectBalanced({ esim: now, bundles, stored }: Books): void {
  const records = [...stored.values()];
  expect(sum(bundles.map((b) => b.used_bytes)) + now.uncovered_bytes + now.late_bytes).toBe(
    sum(records.map(({ bytes }) => bytes)),
  );
  for (const { bytes, parts } of records) expect(sum((parts as Parts).map((part) => part.bytes))).toBe(bytes);
  const partsOf = (place: string) => sum(records.map(({ parts }) => bytesAt(parts ?? [], place)));
  expect([now.uncovered_bytes, now.late_bytes]).toEqual([partsOf(uncovered), partsOf(late)]);
  for (const { id, used_bytes, data_bytes } of bundles) {
    expect(used_bytes).toBe(partsOf(id));
    if (data_bytes !== null) expect(used_bytes).toBeLessThanOrEqual(data_bytes);
  }
}

const types = (events: readonly UsageEvent[]) => events.map(({ type }) => type);
/** The eSIM's own events depend on what is known when a record arrives. */
const ofBundles = ({ events }: Books) =>
  types(events)
    .filter((type) => type.startsWith('bundle.'))
    .sort();
const usedOf = ({ bundles }: Books) => Object.fromEntries(bundles.map((b) => [b.id, b.used_bytes]));

const countries = ['DE', 'FR', 'US', 'JP'] as const;
const coverage = fc.option(fc.subarray([...countries], { minLength: 1 }), { freq: 6 });
const sizes = fc.option(fc.integer({ min: 1, max: 1000 }), { freq: 6 });

/** Bundles of any coverage, or of coverages that are equal or have no country in common. */
const bundlesOf = (coverages: fc.Arbitrary<string[] | null>) =>
  fc
    .array(fc.record({ data_bytes: sizes, countries: coverages }), { maxLength: 5 })
    .map((all) => all.map((fields, index) => bundleRow(`b${index}`, fields)));

const usage = fc.record({
  bytes: fc.integer({ min: 0, max: 900 }),
  at: fc.nat(dayMs).map(later),
  country: fc.constantFrom(null, ...countries),
});
const records = fc
  .array(usage, { maxLength: 14 })
  .map((all) => all.map((fields, index) => record(`r${index}`, fields.bytes, fields)));

/** The records in any order, in any batches, some of them again. */
function arrivalsOf(all: Usage[]): fc.Arbitrary<Usage[][]> {
  return fc
    .tuple(
      fc.shuffledSubarray(all, { minLength: all.length }),
      fc.subarray(all),
      fc.infiniteStream(fc.nat(4)),
    )
    .map(([once, again, cuts]) => {
      const batches: Usage[][] = [[]];
      for (const one of [...once, ...again]) {
        if (cuts.next().value === 0) batches.push([]);
        batches.at(-1)?.push(one);
      }
      return batches;
    });
}
const twoArrivals = records.chain((all) => fc.tuple(arrivalsOf(all), arrivalsOf(all)));

const countAll = (books: Books, batches: Usage[][]) =>
  batches.reduce((now, batch) => take(now, batch), books);

describe('charging', () => {
  test('adds up at every step, and never counts a byte on a bundle that does not cover its country', () => {
    fc.assert(
      fc.property(
        bundlesOf(coverage),
        records.chain(arrivalsOf),
        fc.constantFrom<UsedEsim['status']>('provisioned', 'active', 'suspended', 'terminated'),
        (bundles, batches, status) => {
          const { stored } = countAll(open(bundles, { status }), batches);
          for (const { country, parts } of stored.values()) {
            for (const { place } of parts as Parts) {
              const covered = bundles.find(({ id }) => id === place)?.countries ?? null;
              if (country !== null && covered !== null) expect(covered).toContain(country);
            }
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  test('gives the same sums for any order and batching where no two bundles overlap in part', () => {
    const regions = fc.constantFrom<string[]>(['DE', 'FR'], ['US'], ['JP']);
    const known = twoArrivals.map((both) =>
      both.map((batches) => batches.map((batch) => batch.map((r) => ({ ...r, country: r.country ?? 'DE' })))),
    );
    fc.assert(
      fc.property(bundlesOf(regions), known, (bundles, [one = [], other = []]) => {
        const [first, second] = [countAll(open(bundles), one), countAll(open(bundles), other)];
        expect(usedOf(first)).toEqual(usedOf(second));
        expect(first.esim.uncovered_bytes).toBe(second.esim.uncovered_bytes);
        expect(ofBundles(first)).toEqual(ofBundles(second));
      }),
      { numRuns: 300 },
    );
  });

  test('tells each threshold once, whatever is corrected', () => {
    const amounts = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(bundlesOf(coverage), amounts, fc.infiniteStream(fc.nat(3)), (bundles, given, choice) => {
        let books = open(bundles);
        for (const [index, bytes] of given.entries()) {
          const corrects = choice.next().value === 0 || index === 0 ? null : `r${index - 1}`;
          books = take(books, [record(`r${index}`, bytes, { country: 'DE', corrects })]);
        }
        const told = books.events.flatMap((event) =>
          event.type === 'bundle.usage_threshold' ? [`${event.bundle.id} ${event.percent}`] : [],
        );
        expect(new Set(told).size).toBe(told.length);
        for (const type of ['bundle.activated', 'bundle.depleted']) {
          for (const { id } of bundles) expectAlternating(books.events, id, type);
        }
      }),
      { numRuns: 300 },
    );
  });

  /** A bundle is depleted only after it was activated, and activated again only after it was depleted. */
  function expectAlternating(events: readonly UsageEvent[], id: string, type: string): void {
    const own = events.flatMap((e) =>
      'bundle' in e && e.bundle.id === id && e.type !== 'bundle.usage_threshold' ? [e.type] : [],
    );
    for (const [index, one] of own.entries()) if (one === type) expect(own[index + 1]).not.toBe(type);
  }
});

describe('a record', () => {
  const active = (id: string, covered: string[], days: number, fields: Partial<BundleRow> = {}) =>
    bundleRow(id, {
      ...{ status: 'active', countries: covered, activated_at: start, expires_at: later(days * dayMs) },
      ...fields,
    });

  test('fills, of the active bundles that cover its country, the one that expires first', () => {
    const bundles = [active('a', ['DE'], 9), active('b', ['DE', 'US'], 5), active('c', ['US'], 2)];
    expect(usedOf(take(open(bundles), [record('r', 7, { country: 'DE' })]))).toEqual({ a: 0, b: 7, c: 0 });
    expect(usedOf(take(open(bundles), [record('r', 7, { country: 'US' })]))).toEqual({ a: 0, b: 0, c: 7 });
    expect(usedOf(take(open(bundles), [record('r', 1_500, { country: 'DE' })]))).toEqual({
      ...{ a: 500, b: 1_000, c: 0 },
    });
  });

  test('fills the older of two bundles that expire together, and one without an end last', () => {
    const de = [record('r', 7, { country: 'DE' })];
    const together = [active('a', ['DE'], 9), active('b', ['DE'], 9)];
    expect(usedOf(take(open(together), de))).toEqual({ a: 7, b: 0 });
    const endless = [active('a', ['DE'], 9, { expires_at: null }), active('b', ['DE'], 9)];
    expect(usedOf(take(open(endless), de))).toEqual({ a: 0, b: 7 });
  });

  test('activates the oldest queued bundle that covers its country, beside an active one that does not', () => {
    const bundles = [
      active('a', ['DE'], 9),
      bundleRow('b', { countries: ['JP'] }),
      bundleRow('c', { countries: ['US'] }),
    ];
    const { bundles: after, events } = take(open(bundles), [record('r', 7, { country: 'US' })]);
    expect(after.map(({ status }) => status)).toEqual(['active', 'queued', 'active']);
    expect(types(events)).toEqual(['bundle.activated']);
  });

  test('without a country counts where the eSIM was last seen, and everywhere if that is unknown', () => {
    const bundles = [active('a', ['DE'], 2), active('b', ['US'], 3)];
    expect(usedOf(take(open(bundles, { country: 'US' }), [record('r', 7)]))).toEqual({ a: 0, b: 7 });
    expect(usedOf(take(open(bundles), [record('r', 7)]))).toEqual({ a: 7, b: 0 });
    expect(usedOf(take(open(bundles, { country: 'JP' }), [record('r', 7)]))).toEqual({ a: 0, b: 0 });
  });

  test('that no bundle covers is told once per country and day', () => {
    const noon = later(dayMs / 2);
    const batch = ['US', 'US', 'JP'].map((country, index) =>
      record(`r${index}`, 5, { country, at: later(index) }),
    );
    const first = take(open([active('a', ['DE'], 9)]), batch, noon);
    const told = (books: Books) =>
      books.events.flatMap((e) =>
        e.type === 'esim.usage_not_covered' ? [`${e.country} ${e.uncoveredBytes}`] : [],
      );
    expect(told(first)).toEqual(['US 5', 'JP 15']);
    const again = take(first, [record('x', 1, { country: 'US' })], noon);
    expect(told(again)).toEqual(['US 5', 'JP 15']);
    const aheadOfUs = take(again, [record('y', 1, { country: 'US' })], later(-dayMs));
    expect(told(aheadOfUs)).toHaveLength(2);
    const tomorrow = take(
      again,
      [record('y', 1, { country: 'US' }), record('z', 1, { country: 'JP' })],
      later(dayMs),
    );
    expect(told(tomorrow)).toEqual(['US 5', 'JP 15', 'US 17', 'JP 18']);
    expect(told(take(open([]), [record('r', 5)], noon))).toEqual(['null 5']);
  });

  test('of an eSIM that has ended is late: no bundle, no event, no country', () => {
    const bundles = [bundleRow('a', { status: 'canceled' })];
    const books = take(open(bundles, { status: 'terminated', country: 'DE' }), [
      record('r', 7, { country: 'US' }),
    ]);
    expect([books.esim.late_bytes, books.esim.country, books.events]).toEqual([7, 'DE', []]);
    expect(books.bundles).toEqual(bundles);
  });
});

test('of several active bundles, the one that covers the country is expired early, or else the first to expire', () => {
  const ends = (days: number) => ({ status: 'active' as const, expires_at: later(days * dayMs) });
  const bundles = [
    bundleRow('a', { ...ends(9), countries: ['DE'] }),
    bundleRow('b', { ...ends(2), countries: ['US'] }),
  ];
  const expiredIn = (country: string) =>
    expireActive(noChange(bundles), start, country).events.map(({ bundle }) => bundle.id);
  expect([expiredIn('DE'), expiredIn('US'), expiredIn('JP')]).toEqual([['a'], ['b'], ['b']]);
});

describe('a correction', () => {
  const de = { country: 'DE' };
  const books = (...sizesOf: number[]) =>
    open(sizesOf.map((data_bytes, i) => bundleRow(`b${i}`, { data_bytes, countries: ['DE'] })));

  test('replaces the earlier amount where it was counted, also in the batch of the record', () => {
    const wrong = record('wrong', 700, de);
    const right = record('right', 7, { ...de, corrects: 'wrong' });
    for (const after of [take(take(books(1000), [wrong]), [right]), take(books(1000), [right, wrong])]) {
      expect(usedOf(after)).toEqual({ b0: 7 });
    }
  });

  test('has the country of the record it corrects unless it says another', () => {
    const counted = take(books(1000), [record('a', 5, de), record('b', 5, { country: 'US', at: later(1) })]);
    expect(usedOf(take(counted, [record('c', 9, { corrects: 'a' })]))).toEqual({ b0: 9 });
    const moved = take(counted, [record('c', 9, { corrects: 'a', country: 'US' })]);
    expect([usedOf(moved), moved.esim.uncovered_bytes]).toEqual([{ b0: 0 }, 14]);
  });

  test('gives back a depleted bundle, tells so, and its thresholds are not told again', () => {
    const depleted = take(books(1000), [record('a', 1200, de)]);
    expect(depleted.bundles[0]?.status).toBe('depleted');
    const given = take(depleted, [record('b', 100, { ...de, corrects: 'a' })]);
    expect([given.bundles[0]?.status, usedOf(given), given.esim.uncovered_bytes]).toEqual([
      'active',
      { b0: 100 },
      0,
    ]);
    expect(types(given.events.slice(depleted.events.length))).toEqual(['bundle.activated']);
    const full = take(given, [record('c', 900, de)]);
    expect(types(full.events.slice(given.events.length))).toEqual(['bundle.depleted']);
  });

  test('that leaves a bundle depleted tells nothing', () => {
    const depleted = take(books(1000), [record('a', 1200, de)]);
    const after = take(depleted, [record('b', 1100, { ...de, corrects: 'a' })]);
    expect([after.events.length, after.esim.uncovered_bytes]).toEqual([depleted.events.length, 100]);
  });

  test('gives no bundle back that has expired', () => {
    const depleted = take(books(1000), [record('a', 1000, de)]);
    const after = take(depleted, [record('b', 10, { ...de, corrects: 'a' })], later(31 * dayMs));
    expect([after.bundles[0]?.status, after.esim.uncovered_bytes]).toEqual(['depleted', 10]);
  });

  test('of a terminated eSIM moves the amount to what is late, without an event', () => {
    const used = take(books(1000), [record('a', 600, de)]);
    const ended = { ...used, esim: { ...used.esim, status: 'terminated' as const } };
    const after = take(ended, [record('b', 500, { ...de, corrects: 'a' })]);
    expect([usedOf(after), after.esim.late_bytes, after.events.length]).toEqual([
      { b0: 0 },
      500,
      used.events.length,
    ]);
  });

  test('of a record that is unknown, was corrected, or was counted by a release that kept no parts, is refused', () => {
    const counted = take(books(1000), [record('a', 5, de), record('b', 6, { ...de, corrects: 'a' })]);
    const reasons = (corrects: string, known: ReadonlyMap<string, KnownRecord> = counted.stored) =>
      planUsage(counted.esim, counted.bundles, [record('c', 1, { corrects })], { now: start, known });
    expect(reasons('x')).toMatchObject({ rejected: [{ id: 'c', reason: 'record_unknown' }], counted: [] });
    expect(reasons('a').rejected).toEqual([{ id: 'c', reason: 'already_corrected' }]);
    const old = new Map([['a', { country: null, parts: null, isCorrected: false }]]);
    expect(reasons('a', old).rejected).toEqual([{ id: 'c', reason: 'record_unknown' }]);
    const twice = [record('c', 1, { corrects: 'b' }), record('d', 1, { corrects: 'b' })];
    const plan = planUsage(counted.esim, counted.bundles, twice, { now: start, known: counted.stored });
    expect(plan.rejected).toEqual([{ id: 'd', reason: 'already_corrected' }]);
  });
});
