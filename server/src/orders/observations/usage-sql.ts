import type { EsimStatus, RejectionReason, UsageRecord } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { forceKeyLookup } from '../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { many, one, run } from '../../platform/db/statement.ts';
import { beforeFirst } from '../../platform/lists/keyset.ts';
import { late, type Parts, type Place, uncovered } from '../bundles/count-usage.ts';
import { type BundleChange, bundleChanges, updateBundlesFrom } from '../bundles/update-from.ts';
import type { CarriedEsim } from './sql.ts';

type RecordKey = { iccid: string; record_id: string };

const keys = rowsOf<RecordKey>({
  iccid: column.text((record) => record.iccid),
  record_id: column.text((record) => record.record_id),
});

export type StoredRecord = RecordKey & {
  bytes: number;
  country: string | null;
  bundle_id: string | null;
  parts: Record<Place, number> | null;
  corrected_by: string | null;
};

/** Those of the records that were counted before. The caller holds their eSIMs' locks. */
export const findRecords = many<StoredRecord, [records: readonly RecordKey[]]>(
  'usage_record_find',
  keys.values,
)`
select known.*
from ${keys.table} given
cross join lateral (
  select iccid, record_id, bytes, country, bundle_id, parts, corrected_by
  from usage_records
  where iccid = given.iccid and record_id = given.record_id
  offset 0
) known`;

/** Where a record was counted; null if it is not known. Nothing has to be known of one without bytes. */
export function partsOf({ bytes, bundle_id, parts }: StoredRecord): Parts | null {
  if (parts !== null) return Object.entries(parts).map(([place, part]) => ({ place, bytes: part }));
  if (bundle_id !== null) return [{ place: bundle_id, bytes }];
  return bytes === 0 ? [] : null;
}

type NewRecord = {
  accountUuid: string;
  iccid: string;
  id: string;
  bytes: number;
  at: Date;
  country: string | null;
  parts: Parts;
  /** The record of the same batch that replaces it. */
  correctedBy: string | null;
};

/** Nearly every record is counted on one bundle, whose id takes less room than `parts`. */
function bundleOf({ parts }: NewRecord): Place | null {
  const place = parts.length === 1 ? (parts[0]?.place ?? null) : null;
  return place === uncovered || place === late ? null : place;
}

function otherParts(record: NewRecord): string | null {
  if (record.parts.length === 0 || bundleOf(record) !== null) return null;
  return JSON.stringify(Object.fromEntries(record.parts.map(({ place, bytes }) => [place, bytes])));
}

const newRecords = rowsOf<NewRecord>({
  account_id: column.uuid((record) => record.accountUuid),
  iccid: column.text((record) => record.iccid),
  record_id: column.text((record) => record.id),
  bytes: column.bigint((record) => record.bytes),
  observed_at: column.timestamptz((record) => record.at),
  country: column.text((record) => record.country),
  bundle_id: column.uuid(bundleOf),
  parts: column.text(otherParts),
  corrected_by: column.text((record) => record.correctedBy),
});

type Corrected = RecordKey & { by: string };

const correctedRecords = rowsOf<Corrected>(
  {
    iccid: column.text((record) => record.iccid),
    record_id: column.text((record) => record.record_id),
    corrected_by: column.text((record) => record.by),
  },
  newRecords.next,
);

type EsimChange = { from: EsimStatus; to: CarriedEsim };

const changedEsims = rowsOf<EsimChange>(
  {
    account_id: column.uuid(({ to }) => to.account_id),
    id: column.uuid(({ to }) => to.id),
    from_status: column.text(({ from }) => from),
    status: column.text(({ to }) => to.status),
    country: column.text(({ to }) => to.country),
    observed_at: column.timestamptz(({ to }) => to.country_observed_at),
    uncovered_bytes: column.bigint(({ to }) => to.uncovered_bytes),
    late_bytes: column.bigint(({ to }) => to.late_bytes),
    not_covered_on: column.text(({ to }) => to.not_covered_on),
    not_covered_in: column.text(({ to }) => to.not_covered_in),
  },
  correctedRecords.next,
);

const changedBundles = bundleChanges(changedEsims.next);

export type UsageWrite = {
  records: readonly NewRecord[];
  /** Records that count no longer, because another replaces them. */
  corrected: readonly Corrected[];
  esims: readonly EsimChange[];
  bundles: readonly BundleChange[];
};

const write = one<{ esims: number; bundles: number }, [UsageWrite]>('usage_write', (given) => [
  ...newRecords.values(given.records),
  ...correctedRecords.values(given.corrected),
  ...changedEsims.values(given.esims),
  ...changedBundles.values(given.bundles),
])`
with inserted as (
  -- Sorted like the primary key, which is faster.
  insert into usage_records (account_id, iccid, record_id, bytes, observed_at, country, bundle_id, parts, corrected_by)
  select account_id, iccid, record_id, bytes, observed_at, country, bundle_id, parts::jsonb, corrected_by
  from ${newRecords.table} given
  order by n
), corrected as (
  update usage_records
  set bytes = 0,
      bundle_id = null,
      parts = null,
      corrected_by = given.corrected_by
  from ${correctedRecords.table} given
  where usage_records.iccid = given.iccid
    and usage_records.record_id = given.record_id
    and ${forceKeyLookup('given.n')}
), esim as (
  update esims
  set status = given.status,
      country = given.country,
      country_observed_at = given.observed_at,
      uncovered_bytes = given.uncovered_bytes,
      late_bytes = given.late_bytes,
      not_covered_on = given.not_covered_on::date,
      not_covered_in = given.not_covered_in
  from ${changedEsims.table} given
  where esims.account_id = given.account_id
    and esims.id = given.id
    and esims.status = given.from_status
    and ${forceKeyLookup('given.n')}
  returning 1
), bundle as (${updateBundlesFrom(changedBundles.table)}
)
select (select count(*)::integer from esim) as esims, (select count(*)::integer from bundle) as bundles`;

/** Writes what the records of a batch have changed. The caller holds the eSIMs' locks. */
export async function writeUsage(tx: Queryable, given: UsageWrite): Promise<void> {
  const written = await write(tx, given);
  if (written?.esims !== given.esims.length || written.bundles !== given.bundles.length) {
    throw new Error('an eSIM or a bundle changed although it is locked');
  }
}

type RejectedRecord = { record: UsageRecord; reason: RejectionReason };

type Rejection = RejectedRecord & { uuid: string; accountUuid: string; at: Date };

const rejections = rowsOf<Rejection>({
  id: column.uuid(({ uuid }) => uuid),
  account_id: column.uuid(({ accountUuid }) => accountUuid),
  iccid: column.text(({ record }) => record.iccid),
  record_id: column.text(({ record }) => record.record_id),
  bytes: column.bigint(({ record }) => record.bytes),
  observed_at: column.bigint(({ record }) => record.at),
  country: column.text(({ record }) => record.country ?? null),
  corrects: column.text(({ record }) => record.corrects ?? null),
  reason: column.text(({ reason }) => reason),
  rejected_at: column.timestamptz(({ at }) => at),
});

/** Keeps refused records. One that is refused again is kept once, with its last reason. */
export const keepRejected = run<[rows: readonly Rejection[]]>('rejected_usage_keep', rejections.values)`
insert into rejected_usage as known
  (account_id, id, iccid, record_id, bytes, observed_at, country, corrects, reason, rejected_at)
select account_id, id, iccid, record_id, bytes, to_timestamp(observed_at), country, corrects, reason, rejected_at
from ${rejections.table} given
order by account_id, iccid, record_id
on conflict (account_id, iccid, record_id) do update
set bytes = excluded.bytes,
    observed_at = excluded.observed_at,
    country = excluded.country,
    corrects = excluded.corrects,
    reason = excluded.reason,
    rejected_at = excluded.rejected_at
where known.reason <> excluded.reason or known.bytes <> excluded.bytes`;

export type RejectedRow = {
  account_id: string;
  id: string;
  iccid: string;
  record_id: string;
  bytes: number;
  observed_at: Date;
  country: string | null;
  corrects: string | null;
  reason: RejectionReason;
  rejected_at: Date;
};

type Page = { beforeUuid: string | null; count: number };

const rejectedColumns =
  'account_id, id, iccid, record_id, bytes, observed_at, country, corrects, reason, rejected_at';

const listAllRejected = many<RejectedRow, [page: Page]>('rejected_usage_list', ({ beforeUuid, count }) => [
  beforeUuid ?? beforeFirst,
  count,
])`
select ${rejectedColumns}
from rejected_usage
where id < $1
order by id desc
limit $2`;

const listRejectedOf = many<RejectedRow, [iccid: string, page: Page]>(
  'rejected_usage_list_of_esim',
  (iccid, { beforeUuid, count }) => [beforeUuid ?? beforeFirst, count, iccid],
)`
select ${rejectedColumns}
from rejected_usage
where iccid = $3 and id < $1
order by id desc
limit $2`;

/** Newest first. Each filter has its own statement and index. */
export function listRejectedRows(
  db: Queryable,
  { iccid }: { iccid: string | undefined },
  page: Page,
): Promise<RejectedRow[]> {
  return iccid === undefined ? listAllRejected(db, page) : listRejectedOf(db, iccid, page);
}
