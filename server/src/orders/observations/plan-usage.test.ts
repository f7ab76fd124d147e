import { expect, test } from 'vitest';
import { bundleRow, dayMs, later, start } from '../../../test/support/bundle-row.ts';
import * as core from './plan-usage.ts';

type BundleRow = Parameters<typeof core.planUsage>[1][number];
type Given = { bytes: number; at: Date; country: string | null };

/** The plan and the eSIM after it. */
function planUsage(esim: Esim, bundles: BundleRow[], records: Given[], now: Date) {
  const given = records.map((record, index) => ({ ...record, id: `r${index}`, corrects: null }));
  const plan = core.planUsage(esim, bundles, given, { now, known: new Map() });
  return { ...plan, ...plan.esim };
}

const bundle = (id: string, fields?: Partial<BundleRow>) => bundleRow(id, { thresholds: [], ...fields });

type Esim = core.UsedEsim;
const provisioned: Esim = {
  status: 'provisioned',
  country: null,
  country_observed_at: null,
  uncovered_bytes: 0,
  late_bytes: 0,
  not_covered_on: null,
  not_covered_in: null,
};
const active: Esim = { ...provisioned, status: 'active' };
const record = (bytes: number, at = start, country: string | null = null) => ({ bytes, at, country });
const types = ({ events }: ReturnType<typeof planUsage>) => events.map(({ type }) => type);

test('the first usage of a provisioned eSIM activates it and its bundle, once', () => {
  const plan = planUsage(provisioned, [bundle('a')], [record(10), record(10)], start);
  expect([plan.status, types(plan)]).toEqual(['active', ['esim.activated', 'bundle.activated']]);
  expect(plan.bundles[0]?.used_bytes).toBe(20);
});

test('usage of a suspended eSIM counts but starts no further bundle', () => {
  const plan = planUsage(
    { ...active, status: 'suspended' },
    [bundle('a'), bundle('b')],
    [record(1000)],
    start,
  );
  expect([plan.status, plan.bundles.map((b) => b.status)]).toEqual(['suspended', ['depleted', 'queued']]);
});

test('a record with a country and no bytes is an attach: it starts the first bundle', () => {
  const plan = planUsage(active, [bundle('a')], [record(0, start, 'DE')], start);
  expect([types(plan), plan.country, plan.country_observed_at]).toEqual([['bundle.activated'], 'DE', start]);
});

test('on a suspended eSIM an attach updates the country, and only usage starts the next bundle after one that ended', () => {
  const suspended: Esim = { ...active, status: 'suspended' };
  const ended = bundle('a', { status: 'active', expires_at: start });
  const plan = planUsage(suspended, [ended, bundle('b')], [record(5, later(2), 'DE')], later(1));
  expect(plan.bundles.map((b) => [b.status, b.used_bytes])).toEqual([
    ['expired', 0],
    ['active', 5],
  ]);
  expect([plan.country, plan.bundles[1]?.activated_at]).toEqual(['DE', later(2)]);
});

test('a change of country emits an event with both, a first or repeated country emits none, and a late one is ignored', () => {
  const plan = planUsage(
    active,
    [],
    [record(0, start, 'DE'), record(0, later(1), 'DE'), record(0, later(2), 'FR'), record(0, later(2), 'IT')],
    start,
  );
  expect(plan.events).toEqual([{ type: 'esim.country_changed', country: 'FR', previousCountry: 'DE' }]);
  expect([plan.country, plan.country_observed_at]).toEqual(['FR', later(2)]);
});

test('a newer record of the same country updates its time', () => {
  const seen: Esim = { ...active, country: 'DE', country_observed_at: start };
  expect(planUsage(seen, [], [record(0, later(5), 'DE')], start).country_observed_at).toEqual(later(5));
  expect(planUsage(seen, [], [record(5, later(5))], start)).toMatchObject({
    country: 'DE',
    country_observed_at: start,
  });
});

test('usage does not count on an expired bundle: the next one starts and counts', () => {
  const old = bundle('a', { status: 'active', activated_at: start, expires_at: later(30 * dayMs) });
  const plan = planUsage(active, [old, bundle('b')], [record(10, later(dayMs))], later(30 * dayMs));
  expect(plan.bundles.map((b) => [b.status, b.used_bytes])).toEqual([
    ['expired', 0],
    ['active', 10],
  ]);
  expect(types(plan)).toEqual(['bundle.expired', 'bundle.activated']);
});

test('no event is emitted twice, however many records follow', () => {
  const plan = planUsage(
    active,
    [bundle('a', { thresholds: [1] }), bundle('b')],
    [1, 2, 3].map((n) => record(n * 10)),
    start,
  );
  expect(types(plan)).toEqual(['bundle.activated', 'bundle.usage_threshold']);
});

test('without records nothing changes', () => {
  const bundles = [bundle('a')];
  expect(planUsage(active, bundles, [], start)).toMatchObject({
    esim: active,
    bundles,
    events: [],
    counted: [],
  });
});

test('a record that corrects none replaces none', () => {
  expect(planUsage(active, [bundle('a')], [record(10)], start)).toMatchObject({
    corrected: [],
    rejected: [],
  });
});

const terminated: Esim = { ...active, status: 'terminated' };
const corrects = (id: string, bytes: number) => ({
  id: 'new',
  bytes,
  at: start,
  country: null,
  corrects: id,
});

test('a correction of a terminated eSIM moves what its bundle had to the late usage, and leaves other bundles alone', () => {
  const bundles = [bundle('a', { used_bytes: 70 }), bundle('b', { used_bytes: 5 })];
  const known = new Map([['old', { country: null, parts: [{ place: 'a', bytes: 30 }], isCorrected: false }]]);
  const plan = core.planUsage(terminated, bundles, [corrects('old', 40)], { now: start, known });
  expect(plan.bundles.map(({ used_bytes }) => used_bytes)).toEqual([40, 5]);
  expect(plan.bundles[1]).toBe(bundles[1]);
  expect([plan.esim.late_bytes, plan.corrected]).toEqual([40, [{ id: 'old', by: 'new' }]]);
});

test('a correction of late usage changes its sum by the difference', () => {
  const records = [{ ...corrects('', 30), id: 'old', corrects: null }, corrects('old', 10)];
  const plan = core.planUsage({ ...terminated, late_bytes: 100 }, [], records, {
    now: start,
    known: new Map(),
  });
  expect(plan.esim.late_bytes).toBe(110);
});

test('uncovered usage is told once a day and country, at whatever time, and of a new day anew', () => {
  const at = (time: string) => new Date(`2026-03-0${time}:00Z`);
  const told = (esim: Esim, now: Date) => planUsage(esim, [], [record(1, start, 'FR')], now);
  const first = told(active, at('1T08:00'));
  expect([types(first), first.not_covered_on, first.not_covered_in]).toEqual([
    ['esim.usage_not_covered'],
    '2026-03-01',
    'FR',
  ]);
  const second = told(first.esim, at('1T23:59'));
  expect([types(second), second.not_covered_in]).toEqual([[], 'FR']);
  const next = told(second.esim, at('2T00:00'));
  expect([types(next), next.not_covered_on, next.not_covered_in]).toEqual([
    ['esim.usage_not_covered'],
    '2026-03-02',
    'FR',
  ]);
});

test('of two clocks on both sides of midnight, the later one says which day was told', () => {
  const ahead: Esim = { ...active, not_covered_on: '2026-03-02', not_covered_in: 'DE' };
  const plan = planUsage(ahead, [], [record(1, start, 'FR')], new Date('2026-03-01T23:59:59Z'));
  expect([plan.not_covered_on, plan.not_covered_in]).toEqual(['2026-03-02', 'DE FR']);
});

test('usage that fills a bundle of an active eSIM exactly starts the next one', () => {
  const plan = planUsage(active, [bundle('a'), bundle('b')], [record(1000)], start);
  expect(plan.bundles.map((b) => b.status)).toEqual(['depleted', 'active']);
});

test.each([null, 'FR'])(
  'the bundle after one that ended starts now, not at the record’s time (country %s)',
  (country) => {
    const ended = bundle('a', { status: 'active', activated_at: start, expires_at: later(dayMs) });
    const now = later(2 * dayMs);
    const plan = planUsage(active, [ended, bundle('b')], [record(5, later(1), country)], now);
    expect(plan.bundles[1]).toMatchObject({ status: 'active', activated_at: now });
  },
);

test('an attach starts its bundle before the country event, unless the eSIM is suspended', () => {
  const inGermany = { ...provisioned, country: 'DE', country_observed_at: start };
  const events = (['active', 'suspended'] as const).map((status) =>
    types(planUsage({ ...inGermany, status }, [bundle('a')], [record(5, later(1), 'FR')], start)),
  );
  expect(events).toEqual([
    ['bundle.activated', 'esim.country_changed'],
    ['esim.country_changed', 'bundle.activated'],
  ]);
});
