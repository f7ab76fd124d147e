import type { BundleStatus, EsimStatus } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import { beforeFirst } from '../lists/keyset.ts';
import { insertBundleFrom } from './insert-from.ts';

export type BundleRow = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
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

/** The columns of an eSIM that its bundles depend on. */
export type BundledEsim = { account_id: string; iccid: string; status: EsimStatus };

type NewBundle = {
  accountUuid: string;
  uuid: string;
  iccid: string;
  product: { id: string; data_bytes: number | null; validity_days: number };
  thresholds: readonly number[];
  at: Date;
};

const columns = `account_id, id, iccid, product_id, status, data_bytes, used_bytes, thresholds, validity_days, activated_at,
  expires_at, as_of, created_at`;

/** All bundles of these eSIMs, oldest first. The lock on the eSIM's row covers its bundles: take it before changing them. */
export function readBundles(
  tx: Queryable,
  esims: readonly Pick<BundledEsim, 'account_id' | 'iccid'>[],
): Promise<BundleRow[]> {
  return tx.query(
    {
      name: 'bundle_read',
      text: `select ${columns} from bundles join unnest($1::uuid[], $2::text[]) as held (account_id, iccid)
               using (account_id, iccid) order by id`,
    },
    [esims.map((esim) => esim.account_id), esims.map((esim) => esim.iccid)],
  );
}

export function listBundleRows(
  db: Queryable,
  accountUuid: string,
  iccid: string,
  page: { beforeUuid: string | null; count: number },
): Promise<BundleRow[]> {
  return db.query(
    {
      name: 'bundle_list',
      text: `select ${columns} from bundles where account_id = $1 and iccid = $2 and id < $3 order by id desc limit $4`,
    },
    [accountUuid, iccid, page.beforeUuid ?? beforeFirst, page.count],
  );
}

export async function insertBundle(tx: Queryable, row: NewBundle): Promise<void> {
  await tx.query(
    {
      name: 'bundle_insert',
      text: `
with given as (
  select
    $1::uuid as account_id,
    $2::uuid as bundle_id,
    $3::text as iccid,
    $4::text as product_id,
    $5::bigint as data_bytes,
    $6::integer as validity_days,
    $7::integer[] as thresholds,
    $8::timestamptz as at
)${insertBundleFrom('given')}`,
    },
    [
      row.accountUuid,
      row.uuid,
      row.iccid,
      row.product.id,
      row.product.data_bytes,
      row.product.validity_days,
      row.thresholds,
      row.at,
    ],
  );
}

/** Updates each bundle that still has the status it was read with. Returns how many were updated. */
export async function updateBundles(
  tx: Queryable,
  changes: readonly { from: BundleStatus; row: BundleRow }[],
): Promise<number> {
  const rows = changes.map(({ row }) => row);
  const updated = await tx.query(
    {
      name: 'bundle_update',
      text: `update bundles set status = given.status, used_bytes = given.used_bytes, activated_at = given.activated_at,
               expires_at = given.expires_at, as_of = given.as_of
             from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::bigint[], $6::timestamptz[],
                         $7::timestamptz[], $8::timestamptz[])
               as given (account_id, id, from_status, status, used_bytes, activated_at, expires_at, as_of)
             where bundles.account_id = given.account_id and bundles.id = given.id
               and bundles.status = given.from_status
             returning 1`,
    },
    [
      rows.map((row) => row.account_id),
      rows.map((row) => row.id),
      changes.map(({ from }) => from),
      rows.map((row) => row.status),
      rows.map((row) => row.used_bytes),
      rows.map((row) => row.activated_at),
      rows.map((row) => row.expires_at),
      rows.map((row) => row.as_of),
    ],
  );
  return updated.length;
}

/**
 * Locks eSIMs whose active bundle has expired, and skips those that are locked: several processes can share the work
 * without waiting. The bundle may have changed before the lock was taken: read it again.
 */
export function lockEsimsWithExpiredBundle(tx: Queryable, now: Date, count: number): Promise<BundledEsim[]> {
  return tx.query(
    {
      name: 'bundle_lock_holders_due',
      text: `select esims.account_id, esims.iccid, esims.status from bundles
             join esims on esims.iccid = bundles.iccid and esims.account_id = bundles.account_id
             where bundles.status = 'active' and bundles.expires_at <= $1
             order by bundles.expires_at limit $2 for update of esims skip locked`,
    },
    [now, count],
  );
}
