import type { EsimStatus, ProfileError, ProfileState } from '@simplane/contract';
import type { Queryable } from '../db/database.ts';
import type { LockedEsim } from '../esims/lock.ts';

export async function updateProfile(
  tx: Queryable,
  esim: LockedEsim,
  profile: { state: ProfileState; at: Date; eid: string | null; error: ProfileError | null },
): Promise<void> {
  const { state, at, eid, error } = profile;
  if (esim.is_queued) {
    const observed = { profile_state: state, profile_observed_at: at, profile_error: error, eid };
    return updateQueued(tx, esim, observed);
  }
  await tx.query(
    {
      name: 'esim_update_profile',
      text: `
update esims
set profile_state = $3,
    profile_observed_at = $4,
    eid = $5,
    profile_error = $6
where account_id = $1 and id = $2`,
    },
    [esim.account_id, esim.id, state, at, eid, error && JSON.stringify(error)],
  );
}

export async function updateCountry(
  tx: Queryable,
  esim: LockedEsim,
  seen: { country: string; at: Date },
): Promise<void> {
  const { country, at } = seen;
  if (esim.is_queued) return updateQueued(tx, esim, { country, country_observed_at: at });
  await tx.query(
    {
      name: 'esim_update_country',
      text: `update esims set country = $3, country_observed_at = $4 where account_id = $1 and id = $2`,
    },
    [esim.account_id, esim.id, country, at],
  );
}

/** Reports about an eSIM whose order is open are stored in the queue, and move to the eSIM's row when it is inserted. */
async function updateQueued(
  tx: Queryable,
  { account_id, id }: LockedEsim,
  observed: Partial<Record<keyof LockedEsim, unknown>>,
): Promise<void> {
  await tx.query(
    {
      name: 'esim_update_queued',
      text: `
update execution_queue
set observed = coalesce(observed, '{}') || $3
where account_id = $1 and id = $2`,
    },
    [account_id, id, JSON.stringify(observed)],
  );
}

/**
 * Stores records and returns the indexes of those that were stored before. The input must have no duplicates. Input sorted
 * like the primary key is faster.
 */
export async function insertUsageRecords(
  tx: Queryable,
  records: readonly { iccid: string; record_id: string; bytes: number; at: number }[],
): Promise<number[]> {
  const rows = await tx.query<{ index: number }>(
    {
      name: 'usage_record_insert_many',
      text: `
with given as materialized (
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[]) with ordinality
    as g (iccid, record_id, bytes, at, place)
), inserted as (
  insert into usage_records (iccid, record_id, bytes, observed_at)
  select iccid, record_id, bytes, to_timestamp(at) from given order by place
  on conflict (iccid, record_id) do nothing returning iccid, record_id
)
select (given.place - 1)::integer as index from given
where not exists (select from inserted where inserted.iccid = given.iccid and inserted.record_id = given.record_id)`,
    },
    [
      arrayOfDigits(records.map((record) => record.iccid)),
      records.map((record) => record.record_id),
      arrayOfDigits(records.map((record) => record.bytes)),
      arrayOfDigits(records.map((record) => record.at)),
    ],
  );
  return rows.map(({ index }) => index);
}

/** A PostgreSQL array literal. Faster than the driver's, which checks every element for characters to escape. */
function arrayOfDigits(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`;
}

/** The columns that counting usage needs. */
export type CarriedEsim = Pick<
  LockedEsim,
  'account_id' | 'id' | 'iccid' | 'product_id' | 'status' | 'country' | 'country_observed_at'
>;

/** Locks eSIMs in ICCID order, so that transactions with overlapping sets never deadlock. */
export function lockCarried(
  tx: Queryable,
  iccids: readonly string[],
  ofAccount: string | null,
): Promise<CarriedEsim[]> {
  return tx.query(
    {
      name: 'esim_lock_carried',
      text: `select account_id, id, iccid, product_id, status, country, country_observed_at from esims
             where iccid = any($1) and ($2::uuid is null or account_id = $2) order by iccid for update`,
    },
    [iccids, ofAccount],
  );
}

/** ICCIDs that exist but could not be locked, because their orders are open or have just ended. */
export async function findUnready(
  tx: Queryable,
  iccids: readonly string[],
  ofAccount: string | null,
): Promise<string[]> {
  const rows = await tx.query<{ iccid: string }>(
    {
      name: 'esim_find_unready',
      text: `
select iccid
from execution_queue
where iccid = any($1)
  and type = 'esim.provision'
  and ($2::uuid is null or account_id = $2)
union
select iccid
from esims
where iccid = any($1)
  and ($2::uuid is null or account_id = $2)`,
    },
    [iccids, ofAccount],
  );
  return rows.map(({ iccid }) => iccid);
}

/** Updates the eSIMs that still have the status they were read with. Returns how many. The caller holds their locks. */
export async function updateCarried(
  tx: Queryable,
  changes: readonly { from: EsimStatus; to: CarriedEsim }[],
): Promise<number> {
  const updated = await tx.query(
    {
      name: 'esim_update_carried',
      text: `update esims set status = given.status, country = given.country, country_observed_at = given.observed_at
             from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::timestamptz[])
               as given (account_id, id, from_status, status, country, observed_at)
             where esims.account_id = given.account_id and esims.id = given.id and esims.status = given.from_status
             returning 1`,
    },
    [
      changes.map(({ to }) => to.account_id),
      changes.map(({ to }) => to.id),
      changes.map(({ from }) => from),
      changes.map(({ to }) => to.status),
      changes.map(({ to }) => to.country),
      changes.map(({ to }) => to.country_observed_at),
    ],
  );
  return updated.length;
}
