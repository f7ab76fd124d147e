import type { EsimStatus, ProfileState } from '@simplane/contract';
import { booleans, integers, texts, timestamps, uuids } from '../db/binary-array.ts';
import type { Queryable } from '../db/database.ts';
import { forceKeyLookup, statusWithoutPartialIndex } from '../db/planner-hints.ts';
import { emitFrom } from '../events/emit.ts';
import type { NewEvent } from '../events/new-event.ts';
import { beforeFirst } from '../lists/keyset.ts';
import { type EsimTransition, esimTransitions, sourcesOf } from './state.ts';

export type EsimRow = {
  account_id: string;
  id: string;
  iccid: string;
  product_id: string;
  status: EsimStatus;
  resumes_to: 'provisioned' | 'active' | null;
  profile_state: ProfileState;
  profile_observed_at: Date | null;
  country: string | null;
  country_observed_at: Date | null;
  eid: string | null;
  metadata: Record<string, string>;
  description: string | null;
  smdp_address: string | null;
  /** Sealed, and null until the eSIM is provisioned: before that its order has it. */
  matching_id: string | null;
  confirmation_code_required: boolean;
  created_at: Date;
  provisioned_at: Date | null;
};

const columns = `account_id, id, iccid, product_id, status, resumes_to, profile_state, profile_observed_at, country,
  country_observed_at, eid, metadata, description, smdp_address, matching_id, confirmation_code_required, created_at,
  provisioned_at`;

export async function findEsim(db: Queryable, accountUuid: string, iccid: string): Promise<EsimRow | null> {
  const [row] = await db.query<EsimRow>(
    { name: 'esim_find', text: `select ${columns} from esims where iccid = $2 and account_id = $1` },
    [accountUuid, iccid],
  );
  return row ?? null;
}

/** The order of an eSIM, and how far it came. */
export async function findOrder(
  db: Queryable,
  { account_id, id }: EsimRow,
): Promise<{ uuid: string; progress: Record<string, unknown> } | null> {
  const [row] = await db.query<{ uuid: string; progress: Record<string, unknown> }>(
    {
      name: 'esim_order',
      text: `select x.id as uuid, x.progress from esims e join executions x on x.account_id = e.account_id and x.id = e.execution_id
             where e.account_id = $1 and e.id = $2`,
    },
    [account_id, id],
  );
  return row ?? null;
}

/** Locks the eSIM until the transaction ends, so that changes to it and to its bundles run one after the other. */
export async function lockEsim(tx: Queryable, iccid: string): Promise<EsimRow | null> {
  const [row] = await tx.query<EsimRow>(
    { name: 'esim_lock', text: `select ${columns} from esims where iccid = $1 for update` },
    [iccid],
  );
  return row ?? null;
}

/** Each filter has its index, and its own statement: a generic plan over optional filters would use none of them. */
export function listEsimRows(
  db: Queryable,
  accountUuid: string,
  filter: { status: EsimStatus | undefined; productId: string | undefined },
  page: { beforeUuid: string | null; count: number },
): Promise<EsimRow[]> {
  const values: unknown[] = [accountUuid, page.beforeUuid ?? beforeFirst, page.count];
  const conditions: string[] = [];
  let name = 'esim_list';
  if (filter.status !== undefined) {
    values.push(filter.status);
    conditions.push(`and status = $${values.length}`);
    name += '_status';
  }
  if (filter.productId !== undefined) {
    values.push(filter.productId);
    conditions.push(`and product_id = $${values.length}`);
    name += '_product';
  }
  const text = `select ${columns} from esims where account_id = $1 and id < $2 ${conditions.join(' ')} order by id desc limit $3`;
  return db.query({ name, text }, values);
}

export async function nextIccidBlock(db: Queryable): Promise<number> {
  const [row] = await db.query<{ block: number }>({
    name: 'iccid_block',
    text: `select nextval('iccid_blocks') as block`,
  });
  return row?.block as number;
}

/** Moves the range's mark by as many numbers as it has left of those wanted: from `start` up to, not including, `end`. */
export async function takeFromRange(
  db: Queryable,
  range: { first: string; size: number },
  count: number,
): Promise<{ start: number; end: number }> {
  const [row] = await db.query<{ start: number; end: number }>(
    {
      name: 'iccid_range_take',
      text: `insert into iccid_ranges as range (first_number, taken_before, taken) values ($1, 0, least($2::bigint, $3::bigint))
             on conflict (first_number) do update set taken_before = range.taken,
               taken = greatest(range.taken, least(range.taken + $2::bigint, $3::bigint))
             returning taken_before as start, taken as end`,
    },
    [range.first, count, range.size],
  );
  return row ?? { start: 0, end: 0 };
}

export async function findIccidsInUse(db: Queryable, iccids: string[]): Promise<Set<string>> {
  const rows = await db.query<{ iccid: string }>(
    { name: 'iccid_in_use', text: 'select iccid from esims where iccid = any($1)' },
    [iccids],
  );
  return new Set(rows.map(({ iccid }) => iccid));
}

/** An execution in this process's hands, as the statements below prove it. */
type FencedRow = { account_id: string; id: string; fence: number };

export type Allotment = FencedRow & {
  esimUuid: string;
  iccid: string | null;
  sealedMatchingId: string;
  at: Date;
};

/**
 * Gives new orders what they need before the network is called, and remembers it: a matching id, the profile type that the
 * catalog names now, and an ICCID where the numbers are ours. The eSIM exists from here on. Tells which orders are still held.
 */
export function allotRows(
  db: Queryable,
  rows: Allotment[],
): Promise<{ id: string; progress: Record<string, unknown> }[]> {
  return db.query(
    {
      name: 'esim_allot',
      text: `
with given as (
  select * from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::text[], $6::text[], $7::timestamptz[])
    as g (account_id, execution_id, fence, esim_id, iccid, matching_id, at)
), held as (
  update executions e set iccid = given.iccid, progress = e.progress || jsonb_build_object('matching_id', given.matching_id,
    'profile_type', (select profile_type from products where products.id = e.product_id))
  from given
  where e.account_id = given.account_id and e.id = given.execution_id and e.fence = given.fence and ${statusWithoutPartialIndex('e.status', 'running')}
    and not e.progress ? 'matching_id' and ${forceKeyLookup('given.fence')}
  returning e.account_id, e.id, e.product_id, e.input, e.progress, given.esim_id, given.iccid, given.at
), allotted as (
  ${insertEsimFrom('held')} where iccid is not null
)
select id, progress from held`,
    },
    [
      uuids(rows.map((row) => row.account_id)),
      uuids(rows.map((row) => row.id)),
      integers(rows.map((row) => row.fence)),
      uuids(rows.map((row) => row.esimUuid)),
      texts(rows.map((row) => row.iccid)),
      texts(rows.map((row) => row.sealedMatchingId)),
      timestamps(rows.map((row) => row.at)),
    ],
  );
}

/**
 * Where the numbers are the network's: the eSIM exists from the moment its ICCID is known. `lost`: the order is no longer
 * held. `taken`: another eSIM has that number, whatever the network says.
 */
export async function insertOrderedEsim(
  db: Queryable,
  row: Omit<Allotment, 'sealedMatchingId'>,
): Promise<'inserted' | 'lost' | 'taken'> {
  const [found] = await db.query<{ outcome: 'inserted' | 'lost' | 'taken' }>(
    {
      name: 'esim_insert_ordered',
      text: `
with ours as (
  select from executions where account_id = $1 and id = $2 and fence = $3 and status = 'running'
), held as (
  update executions e set iccid = $5, progress = e.progress || '{"is_ordered": true, "is_reserved": true}'
  where e.account_id = $1 and e.id = $2 and e.fence = $3 and e.status = 'running'
    and not exists (select from esims where iccid = $5)
  returning e.account_id, e.id, e.product_id, e.input, $4::uuid as esim_id, e.iccid, $6::timestamptz as at
), ordered as (
  ${insertEsimFrom('held')}
)
select case when exists (select from held) then 'inserted' when exists (select from ours) then 'taken' else 'lost' end as outcome`,
    },
    [row.account_id, row.id, row.fence, row.esimUuid, row.iccid, row.at],
  );
  return found?.outcome ?? 'lost';
}

function insertEsimFrom(source: string): string {
  return `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, description, eid, created_at)
    select account_id, esim_id, iccid, id, product_id, 'provisioning', coalesce(input -> 'metadata', '{}'),
           input ->> 'description', input ->> 'eid', at
    from ${source}`;
}

export type Provisioned = FencedRow & {
  iccid: string;
  smdpAddress: string;
  sealedMatchingId: string;
  confirmationCodeRequired: boolean;
  bundleUuid: string;
  at: Date;
  event: NewEvent;
};

/** `lost`: another worker holds it now. `gone`: the eSIM was terminated meanwhile. */
export type SettleOutcome = 'settled' | 'lost' | 'gone';

/**
 * The end of good orders in one statement: their eSIMs are ready, their bundles wait for the first attach, the events are in
 * the log, the executions have succeeded and forget their secrets. Tells of each, in their order, what became of it.
 */
export async function settleProvisionedRows(
  db: Queryable,
  rows: Provisioned[],
  thresholds: readonly number[],
): Promise<SettleOutcome[]> {
  const outcomes = await db.query<{ n: number; outcome: SettleOutcome }>(
    {
      name: 'esim_settle_provisioned',
      // The eSIM is looked up by nothing that another index begins with (account, status): on tables that were empty when it
      // was planned, those indexes seemed as good, and each of a batch read all of an account's eSIMs.
      text: `
with given as (
  select * from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::text[], $6::text[], $7::boolean[], $8::uuid[],
                       $9::timestamptz[], $10::uuid[], $11::text[], $12::timestamptz[], $13::text[], $14::text[]) with ordinality
    as g (account_id, execution_id, fence, iccid, smdp_address, matching_id, confirmation_code_required, bundle_id,
          at, event_id, event_type, event_at, event_body, event_subscriptions, n)
), held as materialized (
  select given.* from given join executions x on x.account_id = given.account_id and x.id = given.execution_id
    and x.fence = given.fence and ${statusWithoutPartialIndex('x.status', 'running')}
  where ${forceKeyLookup('given.fence')} for update of x
), ready as (
  update esims e set status = 'provisioned', provisioned_at = held.at,
    profile_state = case when e.profile_state = 'unknown' then 'released' else e.profile_state end,
    profile_observed_at = coalesce(e.profile_observed_at, held.at),
    smdp_address = held.smdp_address, matching_id = held.matching_id,
    confirmation_code_required = held.confirmation_code_required
  from held
  where e.iccid = held.iccid and e.execution_id = held.execution_id
    and ${statusWithoutPartialIndex('e.status', 'provisioning')} and ${forceKeyLookup('held.fence')}
  returning held.*, e.product_id
), settled as (
  update executions x set status = 'succeeded', finished_at = ready.at, input = x.input - 'sealed_confirmation_code',
    progress = x.progress - 'matching_id'
  from ready where x.account_id = ready.account_id and x.id = ready.execution_id and ${forceKeyLookup('ready.fence')}
), bundle as (
  insert into bundles (account_id, id, iccid, product_id, status, data_bytes, thresholds, validity_days, created_at)
  select ready.account_id, ready.bundle_id, ready.iccid, product.id, 'queued', product.data_bytes,
         case when product.data_bytes is null then '{}' else $15::integer[] end, product.validity_days, ready.at
  from ready join products product on product.id = ready.product_id
), ${emitFrom('ready')}
select n::integer, case when n in (select n from ready) then 'settled' when n in (select n from held) then 'gone' else 'lost' end
  as outcome
from given`,
    },
    [
      uuids(rows.map((row) => row.account_id)),
      uuids(rows.map((row) => row.id)),
      integers(rows.map((row) => row.fence)),
      texts(rows.map((row) => row.iccid)),
      texts(rows.map((row) => row.smdpAddress)),
      texts(rows.map((row) => row.sealedMatchingId)),
      booleans(rows.map((row) => row.confirmationCodeRequired)),
      uuids(rows.map((row) => row.bundleUuid)),
      timestamps(rows.map((row) => row.at)),
      uuids(rows.map((row) => row.event.uuid)),
      texts(rows.map((row) => row.event.type)),
      timestamps(rows.map((row) => row.event.createdAt)),
      texts(rows.map((row) => row.event.body)),
      texts(rows.map((row) => row.event.subscriptions)),
      thresholds,
    ],
  );
  return outcomes.sort((a, b) => a.n - b.n).map(({ outcome }) => outcome);
}

/** A conditional change: null when the eSIM is not in a status that it may start from. */
export async function changeStatus(
  tx: Queryable,
  iccid: string,
  transition: EsimTransition,
): Promise<EsimRow | null> {
  const { to } = esimTransitions[transition];
  const [row] = await tx.query<EsimRow>(
    {
      name: `esim_${transition}`,
      text: `update esims set status = ${to === null ? 'resumes_to' : `'${to}'`},
               resumes_to = ${transition === 'suspend' ? 'status' : 'null'}
             where iccid = $1 and status = any($2) returning ${columns}`,
    },
    [iccid, sourcesOf(transition)],
  );
  return row ?? null;
}
