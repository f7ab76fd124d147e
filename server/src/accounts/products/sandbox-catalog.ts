import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { type GivenProduct, upsertProducts } from './sql.ts';

const gb = 1_000_000_000;

// ISO 3166-1 alpha-2, by the regions that travel plans are sold in.
const europe =
  'AT BE BG CH CY CZ DE DK EE ES FI FR GB GR HR HU IE IS IT LI LT LU LV MT NL NO PL PT RO SE SI SK'.split(
    ' ',
  );
const asia = 'CN HK ID IN JP KH KR LA LK MO MY PH PK SG TH TW VN'.split(' ');
const latinAmerica = 'AR BO BR CL CO CR DO EC GT HN MX NI PA PE PY SV UY'.split(' ');
const gulf = 'AE BH KW OM QA SA'.split(' ');
const world = [
  ...europe,
  ...asia,
  ...latinAmerica,
  ...gulf,
  'AU',
  'CA',
  'EG',
  'IL',
  'MA',
  'NZ',
  'TR',
  'US',
  'ZA',
].sort();

/** The catalog of a new sandbox. Listed products provision normally; the unlisted ones misbehave on purpose, as documented. */
export const sandboxCatalog: GivenProduct[] = [
  plan('prod_us_1gb_7d', 'United States 1 GB, 7 days', ['US'], 1, 7, 450),
  plan('prod_us_10gb_30d', 'United States 10 GB, 30 days', ['US'], 10, 30, 2200),
  plan('prod_jp_3gb_15d', 'Japan 3 GB, 15 days', ['JP'], 3, 15, 850),
  plan('prod_gb_5gb_30d', 'United Kingdom 5 GB, 30 days', ['GB'], 5, 30, 1100),
  plan('prod_th_unlimited_10d', 'Thailand unlimited, 10 days', ['TH'], null, 10, 1490),
  plan('prod_tr_3gb_30d', 'Türkiye 3 GB, 30 days', ['TR'], 3, 30, 800),
  plan('prod_europe_1gb_7d', 'Europe 1 GB, 7 days', europe, 1, 7, 500),
  plan('prod_europe_5gb_30d', 'Europe 5 GB, 30 days', europe, 5, 30, 1600),
  plan('prod_europe_unlimited_15d', 'Europe unlimited, 15 days', europe, null, 15, 3900),
  plan('prod_asia_5gb_30d', 'Asia 5 GB, 30 days', asia, 5, 30, 1800),
  plan('prod_latam_3gb_30d', 'Latin America 3 GB, 30 days', latinAmerica, 3, 30, 2100),
  plan('prod_gulf_3gb_14d', 'Gulf states 3 GB, 14 days', gulf, 3, 14, 1500),
  plan('prod_global_1gb_7d', 'Global 1 GB, 7 days', world, 1, 7, 900),
  {
    ...plan('prod_global_10gb_60d', 'Global 10 GB, 60 days', world, 10, 60, 5900),
    after_depletion: { action: 'throttle', kbps: 256 },
  },
  misbehaving('prod_sandbox_slow', 'Sandbox: slow network'),
  misbehaving('prod_sandbox_held', 'Sandbox: waits before the network'),
  misbehaving('prod_sandbox_flaky', 'Sandbox: fails twice, then works'),
  misbehaving('prod_sandbox_declined', 'Sandbox: declined for good'),
  misbehaving('prod_sandbox_out_of_stock', 'Sandbox: out of stock'),
];

function plan(
  id: string,
  name: string,
  countries: string[],
  gigabytes: number | null,
  validityDays: number,
  priceCents: number,
): GivenProduct {
  return {
    id,
    name,
    countries,
    data_bytes: gigabytes === null ? null : gigabytes * gb,
    validity_days: validityDays,
    price: { amount: priceCents, currency: 'eur' },
    speeds: ['4G', '5G'],
    active: true,
    listed: true,
  };
}

function misbehaving(id: string, name: string): GivenProduct {
  return { ...plan(id, name, world, 1, 7, 0), listed: false };
}

/** Adds the sandbox catalog. Existing products are not changed: the operator's own catalog wins. */
export async function seedSandbox(db: Database, clock: Clock): Promise<void> {
  await upsertProducts(db, sandboxCatalog, { now: new Date(clock.nowMs()), overwrite: false });
}
