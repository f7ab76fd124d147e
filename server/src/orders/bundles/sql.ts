import type { BundleStatus, EsimStatus } from '@simplane/contract';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { count, many, run } from '../../platform/db/statement.ts';
import { beforeFirst } from '../../platform/lists/keyset.ts';
import { insertBundleFrom } from './insert-from.ts';

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
};

/** The bundleColumns of an eSIM that its bundles depend on. */
export type BundledEsim = { account_id: string; iccid: string; status: EsimStatus };

const bundleColumns = `account_id, id, iccid, product_id, reference, status, data_bytes, used_bytes, thresholds, validity_days, activated_at,
  expires_at, as_of, created_at`;

type NewBundle = {
  accountUuid: string;
  uuid: string;
  iccid: string;
  product: { id: string; data_bytes: number | null; validity_days: number };
  thresholds: readonly number[];
  reference: string | null;
  at: Date;
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
    $9::timestamptz as at
)${insertBundleFrom('given')}`;

export const listBundleRows = many<
  BundleRow,
  [accountUuid: string, iccid: string, page: { beforeUuid: string | null; count: number }]
>('bundle_list', (accountUuid, iccid, page) => [
  accountUuid,
  iccid,
  page.beforeUuid ?? beforeFirst,
  page.count,
])`
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

type Change = { from: BundleStatus; row: BundleRow };

const changed = rowsOf<Change>({
  account_id: column.uuid(({ row }) => row.account_id),
  id: column.uuid(({ row }) => row.id),
  from_status: column.text(({ from }) => from),
  status: column.text(({ row }) => row.status),
  used_bytes: column.bigint(({ row }) => row.used_bytes),
  activated_at: column.timestamptz(({ row }) => row.activated_at),
  expires_at: column.timestamptz(({ row }) => row.expires_at),
  as_of: column.timestamptz(({ row }) => row.as_of),
});

/** Updates each bundle that still has the status it was read with. Returns how many were updated. */
export const updateBundles = count<[changes: readonly Change[]]>('bundle_update', changed.values)`
update bundles
set status = given.status,
    used_bytes = given.used_bytes,
    activated_at = given.activated_at,
    expires_at = given.expires_at,
    as_of = given.as_of
from ${changed.table} given
where bundles.account_id = given.account_id
  and bundles.id = given.id
  and bundles.status = given.from_status
returning 1`;

/**
 * Locks eSIMs whose active bundle has expired, and skips those that are locked: several processes can share the work
 * without waiting. The bundle may have changed before the lock was taken: read it again.
 */
export const lockEsimsWithExpiredBundle = many<BundledEsim, [now: Date, count: number]>(
  'bundle_lock_holders_due',
)`
select esims.account_id, esims.iccid, esims.status
from bundles
join esims on esims.iccid = bundles.iccid and esims.account_id = bundles.account_id
where bundles.status = 'active' and bundles.expires_at <= $1
order by bundles.expires_at
limit $2
for update of esims skip locked`;
