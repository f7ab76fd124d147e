import type { EsimStatus, ProfileError, ProfileState, UsageRecord } from '@simplane/contract';
import type { Queryable } from '../../platform/db/database.ts';
import { column, rowsOf } from '../../platform/db/rows.ts';
import { count, list, many, run } from '../../platform/db/statement.ts';
import type { LockedEsim } from '../esims/lock.ts';

/** The columns that counting usage needs. */
export type CarriedEsim = Pick<
  LockedEsim,
  'account_id' | 'id' | 'iccid' | 'product_id' | 'reference' | 'status' | 'country' | 'country_observed_at'
>;

/** Locks eSIMs in ICCID order, so that transactions with overlapping sets never deadlock. */
export const lockCarried = many<CarriedEsim, [iccids: readonly string[], ofAccount: string | null]>(
  'esim_lock_carried',
)`
select account_id, id, iccid, product_id, reference, status, country, country_observed_at
from esims
where iccid = any($1) and ($2::uuid is null or account_id = $2)
order by iccid
for update`;

type Change = { from: EsimStatus; to: CarriedEsim };

const changed = rowsOf<Change>({
  account_id: column.uuid(({ to }) => to.account_id),
  id: column.uuid(({ to }) => to.id),
  from_status: column.text(({ from }) => from),
  status: column.text(({ to }) => to.status),
  country: column.text(({ to }) => to.country),
  observed_at: column.timestamptz(({ to }) => to.country_observed_at),
});

/** Updates the eSIMs that still have the status they were read with. Returns how many. The caller holds their locks. */
export const updateCarried = count<[changes: readonly Change[]]>('esim_update_carried', changed.values)`
update esims
set status = given.status,
    country = given.country,
    country_observed_at = given.observed_at
from ${changed.table} given
where esims.account_id = given.account_id
  and esims.id = given.id
  and esims.status = given.from_status
returning 1`;

/** ICCIDs that exist but could not be locked, because their orders are open or have just ended. */
export const findUnready = list<string, [iccids: readonly string[], ofAccount: string | null]>(
  'esim_find_unready',
)`
select iccid
from execution_queue
where iccid = any($1)
  and type = 'esim.provision'
  and ($2::uuid is null or account_id = $2)
union
select iccid
from esims
where iccid = any($1)
  and ($2::uuid is null or account_id = $2)`;

const givenRecords = rowsOf<UsageRecord>({
  iccid: column.text((record) => record.iccid),
  record_id: column.text((record) => record.record_id),
  bytes: column.bigint((record) => record.bytes),
  at: column.bigint((record) => record.at),
});

/**
 * Stores records and returns the indexes of those that were stored before. The input must have no duplicates. Input sorted
 * like the primary key is faster.
 */
export const insertUsageRecords = list<number, [records: readonly UsageRecord[]]>(
  'usage_record_insert_many',
  givenRecords.values,
)`
with given as materialized (
  select *
  from ${givenRecords.table} given
), inserted as (
  insert into usage_records (iccid, record_id, bytes, observed_at)
  select iccid, record_id, bytes, to_timestamp(at)
  from given
  order by n
  on conflict (iccid, record_id) do nothing
  returning iccid, record_id
)
select (given.n - 1)::integer as index
from given
where not exists (
  select
  from inserted
  where inserted.iccid = given.iccid and inserted.record_id = given.record_id)`;

/** Reports about an eSIM whose order is open are stored in the queue, and move to the eSIM's row when it is inserted. */
const updateQueued = run<[esim: LockedEsim, observed: Partial<Record<keyof LockedEsim, unknown>>]>(
  'esim_observe_queued',
  ({ account_id, id }, observed) => [account_id, id, JSON.stringify(observed)],
)`
update execution_queue
set observed = coalesce(observed, '{}') || $3
where account_id = $1 and id = $2`;

type Seen = { country: string; at: Date };

const updateStoredCountry = run<[esim: LockedEsim, seen: Seen]>(
  'esim_update_country',
  ({ account_id, id }, { country, at }) => [account_id, id, country, at],
)`
update esims
set country = $3,
    country_observed_at = $4
where account_id = $1 and id = $2`;

export function updateCountry(tx: Queryable, esim: LockedEsim, seen: Seen): Promise<void> {
  if (!esim.is_queued) return updateStoredCountry(tx, esim, seen);
  return updateQueued(tx, esim, { country: seen.country, country_observed_at: seen.at });
}

type Profile = { state: ProfileState; at: Date; eid: string | null; error: ProfileError | null };

const updateStoredProfile = run<[esim: LockedEsim, profile: Profile]>(
  'esim_update_profile',
  ({ account_id, id }, { state, at, eid, error }) => [
    account_id,
    id,
    state,
    at,
    eid,
    error && JSON.stringify(error),
  ],
)`
update esims
set profile_state = $3,
    profile_observed_at = $4,
    eid = $5,
    profile_error = $6
where account_id = $1 and id = $2`;

export function updateProfile(tx: Queryable, esim: LockedEsim, profile: Profile): Promise<void> {
  if (!esim.is_queued) return updateStoredProfile(tx, esim, profile);
  const { state, at, eid, error } = profile;
  return updateQueued(tx, esim, { profile_state: state, profile_observed_at: at, profile_error: error, eid });
}
