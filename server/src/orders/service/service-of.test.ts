import {
  type AfterDepletion,
  type BundleStatus,
  bundleStatuses,
  type EsimStatus,
  esimStatuses,
  idPrefixes,
} from '@simplane/contract';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import { type ServiceBundle, serviceOf } from './service-of.ts';

const start = new Date('2026-11-01T00:00:00Z');
const inDays = (days: number) => new Date(start.getTime() + days * 86_400_000);
const seconds = (at: Date) => at.getTime() / 1000;
const uuid = (n: number) => `019e4dd1-c498-7a6a-8465-${String(n).padStart(12, '0')}`;
const idOf = (n: number) => idOfUuid(idPrefixes.bundle, uuid(n));

function bundle(n: number, status: BundleStatus, fields: Partial<ServiceBundle> = {}): ServiceBundle {
  return { id: uuid(n), status, countries: ['DE'], expires_at: inDays(30), after_depletion: null, ...fields };
}

const active = (bundles: ServiceBundle[], country: string | null = 'DE', now = start) =>
  serviceOf('active', bundles, country, now);

const throttle: AfterDepletion = { action: 'throttle', kbps: 128 };
const none: AfterDepletion = { action: 'none', kbps: null };
const barred = (reason: string, bundle_id: string | null = null) => ({
  content: { state: 'barred', reason, kbps: null, bundle_id, until: null },
  endsAt: null,
});
const full = (n: number, until: number | null) => ({
  state: 'full',
  reason: null,
  kbps: null,
  bundle_id: idOf(n),
  until,
});

describe('the service follows from the status', () => {
  test.each<[EsimStatus, string]>([
    ['provisioning', 'not_active'],
    ['failed', 'not_active'],
    ['suspended', 'suspended'],
    ['terminated', 'terminated'],
  ])('an eSIM that is %s is barred as %s, whatever its bundles', (status, reason) => {
    expect(serviceOf(status, [bundle(1, 'active')], 'DE', start)).toEqual(barred(reason));
  });

  test('an eSIM that was never attached has full service, so that it can attach', () => {
    const queued = bundle(1, 'queued', { expires_at: null });
    expect(serviceOf('provisioned', [queued], null, start)).toEqual({ content: full(1, null), endsAt: null });
  });
});

describe('the service of an active eSIM', () => {
  test('is full with the bundle that expires first, until the last one does', () => {
    const bundles = [
      bundle(1, 'active', { expires_at: inDays(30) }),
      bundle(2, 'active', { expires_at: inDays(7) }),
    ];
    expect(active(bundles)).toEqual({ content: full(2, seconds(inDays(30))), endsAt: null });
  });

  test('has no known end while another bundle waits', () => {
    const bundles = [bundle(1, 'active'), bundle(2, 'queued', { expires_at: null })];
    expect(active(bundles).content).toEqual(full(1, null));
    expect(active(bundles.slice(1)).content).toEqual(full(2, null));
  });

  test('is barred in a country that no bundle covers, and full if the country is not known', () => {
    expect(active([bundle(1, 'active')], 'JP')).toEqual(barred('not_covered'));
    expect(active([bundle(1, 'queued')], 'JP')).toEqual(barred('not_covered'));
    expect(active([bundle(1, 'active')], null).content.state).toBe('full');
    expect(active([bundle(1, 'active', { countries: null })], 'JP').content.state).toBe('full');
  });

  test('after depletion is barred for good, throttled or full until the validity ends', () => {
    expect(active([bundle(1, 'depleted')])).toEqual(barred('depleted', idOf(1)));
    expect(active([bundle(1, 'depleted')], 'DE', inDays(99))).toEqual(barred('depleted', idOf(1)));
    const until = seconds(inDays(30));
    expect(active([bundle(1, 'depleted', { after_depletion: throttle })])).toEqual({
      content: { state: 'throttled', reason: 'depleted', kbps: 128, bundle_id: idOf(1), until },
      endsAt: inDays(30),
    });
    expect(active([bundle(1, 'depleted', { after_depletion: none })])).toEqual({
      content: full(1, until),
      endsAt: inDays(30),
    });
    for (const after_depletion of [throttle, none])
      expect(active([bundle(1, 'depleted', { after_depletion })], 'DE', inDays(30))).toEqual(
        barred('expired'),
      );
  });

  test('follows the depleted bundle that would expire last, and only where it covers', () => {
    const bundles = [
      bundle(1, 'depleted', { after_depletion: throttle, expires_at: inDays(9) }),
      bundle(2, 'depleted', { expires_at: inDays(3) }),
    ];
    expect(active(bundles).content).toMatchObject({ state: 'throttled', bundle_id: idOf(1) });
    expect(active(bundles, 'JP')).toEqual(barred('expired'));
    expect(active([...bundles, bundle(3, 'active')], 'DE').content).toMatchObject(
      full(3, seconds(inDays(30))),
    );
    expect(active([...bundles, bundle(3, 'active', { countries: ['US'] })]).content.state).toBe('throttled');
  });

  test('is barred as expired after the last bundle, and as not active without one', () => {
    expect(active([bundle(1, 'expired')])).toEqual(barred('expired'));
    expect(active([bundle(1, 'active')], 'DE', inDays(30))).toEqual(barred('expired'));
    expect(active([bundle(1, 'canceled')])).toEqual(barred('not_active'));
    expect(active([])).toEqual(barred('not_active'));
  });
});

describe('for any eSIM', () => {
  const anyBundle = fc.record({
    id: fc.integer({ min: 1, max: 999 }).map(uuid),
    status: fc.constantFrom(...bundleStatuses),
    countries: fc.constantFrom<string[] | null>(null, ['DE'], ['JP'], ['DE', 'JP']),
    expires_at: fc.option(fc.integer({ min: -5, max: 5 }).map(inDays)),
    after_depletion: fc.constantFrom(null, throttle, none),
  });
  const anyCase = {
    status: fc.constantFrom(...esimStatuses),
    bundles: fc.uniqueArray(anyBundle, { selector: ({ id }) => id, maxLength: 6 }),
    country: fc.constantFrom(null, 'DE', 'JP', 'US'),
    day: fc.integer({ min: -6, max: 6 }),
  };

  test('it is full exactly without a reason, and has a speed exactly if throttled', () => {
    fc.assert(
      fc.property(fc.record(anyCase), ({ status, bundles, country, day }) => {
        const { content } = serviceOf(status, bundles, country, inDays(day));
        expect(content.state === 'full').toBe(content.reason === null);
        expect(content.state === 'throttled').toBe(content.kbps !== null);
      }),
    );
  });

  test('it is never full or throttled when suspended or ended, nor without a bundle that covers the country', () => {
    fc.assert(
      fc.property(fc.record(anyCase), ({ status, bundles, country, day }) => {
        const { state } = serviceOf(status, bundles, country, inDays(day)).content;
        const mayServe = status === 'provisioned' || status === 'active';
        const covered = bundles.some(
          ({ countries }) => country === null || countries === null || countries.includes(country),
        );
        if (!mayServe || !covered) expect(state).toBe('barred');
      }),
    );
  });

  test('between two times, it changes only when an active bundle expires or at its own end', () => {
    fc.assert(
      fc.property(fc.record(anyCase), ({ status, bundles, country, day }) => {
        const [now, next] = [inDays(day), inDays(day + 1)];
        const before = serviceOf(status, bundles, country, now);
        const expires = bundles.some(
          (one) =>
            one.status === 'active' && one.expires_at && one.expires_at > now && one.expires_at <= next,
        );
        const ends = before.endsAt !== null && before.endsAt <= next;
        if (!expires && !ends) expect(serviceOf(status, bundles, country, next)).toEqual(before);
      }),
    );
  });
});
