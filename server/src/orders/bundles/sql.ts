import type { AfterDepletion, BundleStatus, Price } from '@simplane/contract';
import { isHere } from '../../accounts/moves/is-here.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { count, many, run } from '../../platform/db/statement.ts';
import type { ServedEsim } from '../service/served-esim.ts';
import { insertBundleFrom } from './insert-from.ts';
import { type BundleChange, bundleChanges, updateBundlesFrom } from './update-from.ts';

export type BundleRow = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
  /** The account's own name for the order that bought it. */
  reference: string | null;
  status: BundleStatus;
  data_bytes: number | null;
  used_bytes: number;
  thresholds: number[];
  validity_days: number;
  activated_at: Date | null;
  expires_at: Date | null;
  as_of: Date | null;
  created_at: Date;
  /** Null if neither the bundle nor the catalog knows them: then it covers every country. */
  countries: string[] | null;
  /** Null for a bundle sold by a release that did not store it. */
  price: Price | null;
  /** Null: the eSIM is barred. */
  after_depletion: AfterDepletion | null;
  /** The highest `used_bytes` so far, once a correction has lowered it. */
  most_used_bytes: number | null;
};

/** The columns of an eSIM that its bundles and its service depend on. */
export type BundledEsim = ServedEsim;

// A bundle of a release that did not copy the countries has those of its product.
const bundleColumns = `account_id, id, iccid, product_id, reference, status, data_bytes, used_bytes, thresholds, validity_days, activated_at,
  expires_at, as_of, created_at, price, after_depletion, most_used_bytes,
  coalesce(countries, (select countries from products where products.id = bundles.product_id)) as countries`;

type NewBundle = {
  accountUuid: string;
  uuid: string;
  iccid: string;
  product: SoldProduct;
  price: Price | null;
  thresholds: readonly number[];
  reference: string | null;
  at: Date;
};

/** What a bundle copies of its product, so that later changes of the catalog do not affect it. */
export type SoldProduct = {
  id: string;
  data_bytes: number | null;
  validity_days: number;
  countries: string[];
  after_depletion?: AfterDepletion | null;
};

export const insertBundle = run<[row: NewBundle]>('bundle_insert', (row) => [
  row.accountUuid,
  row.uuid,
  row.iccid,
  row.product.id,
  row.product.data_bytes,
  row.product.validity_days,
  row.thresholds,
  row.reference,
  row.at,
  row.product.countries,
  row.price && JSON.stringify(row.price),
  row.product.after_depletion ? JSON.stringify(row.product.after_depletion) : null,
])`
with given as (
  select
    $1::uuid as account_id,
    $2::uuid as bundle_id,
    $3::text as iccid,
    $4::text as product_id,
    $5::bigint as data_bytes,
    $6::integer as validity_days,
    $7::integer[] as thresholds,
    $8::text as reference,
    $9::timestamptz as at,
    $10::text[] as countries,
    $11::jsonb as price,
    $12::jsonb as after_depletion
)${insertBundleFrom('given')}`;

export const listBundleRows = many<
  BundleRow,
  [accountUuid: string, iccid: string, beforeUuid: string, count: number]
>('bundle_list')`
select ${bundleColumns}
from bundles
where account_id = $1 and iccid = $2 and id < $3
order by id desc
limit $4`;

type EsimKey = Pick<BundledEsim, 'account_id' | 'iccid'>;

const keys = rowsOf<EsimKey>({
  account_id: column.uuid((esim) => esim.account_id),
  iccid: column.text((esim) => esim.iccid),
});

/** All bundles of these eSIMs, oldest first. The lock on the eSIM's row covers its bundles: take it before changing them. */
export const readBundles = many<BundleRow, [esims: readonly EsimKey[]]>('bundle_read', keys.values)`
select ${bundleColumns}
from bundles
join ${keys.table} given using (account_id, iccid)
order by id`;

const changed = bundleChanges();

export const updateBundles = count<[changes: readonly BundleChange[]]>(
  'bundle_update',
  changed.values,
)`${updateBundlesFrom(changed.table)}`;

/**
 * Locks eSIMs whose active bundle has expired, and skips those that are locked: several processes can share the work
 * without waiting. The bundle may have changed before the lock was taken: read it again.
 */
export const lockEsimsWithExpiredBundle = many<BundledEsim, [now: Date, count: number]>(
  'bundle_lock_holders_due',
)`
select esims.account_id, esims.id, esims.iccid, esims.product_id, esims.reference, esims.status, esims.resumes_to, esims.country,
  esims.service, esims.service_version, esims.pending_change
from bundles
join esims on esims.iccid = bundles.iccid and esims.account_id = bundles.account_id
where bundles.status = 'active' and bundles.expires_at <= $1 and ${isHere('bundles.account_id')}
order by bundles.expires_at
limit $2
for update of esims skip locked`;
