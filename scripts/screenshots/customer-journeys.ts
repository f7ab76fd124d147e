import type { Simplane } from '@simplane/sdk';
import { done, later, type Step, sold } from './steps.ts';

const orderCount = 62;
const [minute, hour, day] = [60, 3_600, 86_400];

/** What is sold, how many bytes it has, and where its buyers travel. */
const catalog = [
  { id: 'prod_europe_5gb_30d', gigabytes: 5, countries: ['FR', 'IT', 'ES', 'DE', 'PT'] },
  { id: 'prod_us_10gb_30d', gigabytes: 10, countries: ['US'] },
  { id: 'prod_europe_1gb_7d', gigabytes: 1, countries: ['NL', 'AT', 'GR'] },
  { id: 'prod_jp_3gb_15d', gigabytes: 3, countries: ['JP'] },
  { id: 'prod_global_10gb_60d', gigabytes: 10, countries: ['AU', 'BR', 'SG', 'CA'] },
  { id: 'prod_europe_5gb_30d', gigabytes: 5, countries: ['HR', 'SE', 'IE'] },
  { id: 'prod_th_unlimited_10d', gigabytes: 8, countries: ['TH'] },
] as const;

/** By the number of the order. */
const misbehaving: Record<number, string> = {
  24: 'prod_sandbox_declined',
  41: 'prod_sandbox_flaky',
  48: 'prod_sandbox_out_of_stock',
  58: 'prod_sandbox_out_of_stock',
};

/** Orders of the last days, more and more of them, each as far as its buyer came. */
export function customerJourneys(api: Simplane): Step[] {
  const random = createRandom(17);
  const between = (low: number, high: number) => low + random() * (high - low);
  return Array.from({ length: orderCount }, (_, number) => {
    const isOld = number < 14;
    const share = isOld ? number / 14 : (number - 14) / (orderCount - 14);
    const start = isOld ? 5 * day - share * 3.9 * day : 23 * hour * (1 - share) ** 1.4 + 90;
    const { id, gigabytes, countries } = catalog[
      Math.floor(random() * catalog.length)
    ] as (typeof catalog)[number];
    const country = countries[Math.floor(random() * countries.length)] as string;
    const sale = sold(api, misbehaving[number] ?? id, { order_id: `A-${1_001 + number}` });
    const did = (secondsAgo: number, body: Parameters<typeof api.sandbox.simulate>[1]) =>
      later(secondsAgo, async () => sale.iccid !== '' && api.sandbox.simulate(sale.iccid, body));

    const downloaded = start - between(1 * minute, 4 * minute);
    const attached = downloaded - between(4 * minute, 80 * minute);
    const steps = [later(start, sale.order)];
    if (random() < 0.85) {
      steps.push(
        did(downloaded, { action: 'download' }),
        did(downloaded - between(5, 20), { action: 'install' }),
      );
      steps.push(did(downloaded - 25, { action: 'enable' }));
      if (random() < 0.9) {
        steps.push(did(attached, { action: 'attach', country }));
        const used = gigabytes * between(0.05, 1.05) * 1_000_000_000;
        for (const part of [0.2, 0.45, 0.35]) {
          const after = attached * (1 - part * between(0.6, 1));
          steps.push(did(after, { action: 'use_data', bytes: Math.round(used * part) }));
        }
      }
    }
    if (number % 17 === 9) steps.push(later(start * 0.3, () => done(api, api.esims.suspend(sale.iccid))));
    if (number % 19 === 6) steps.push(later(start * 0.2, () => done(api, api.esims.terminate(sale.iccid))));
    return steps.filter(({ secondsAgo }) => secondsAgo > 0);
  }).flat();
}

/** Seeded (mulberry32), so that every run tells the same story. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
