import type { EsimStatus } from '@simplane/contract';
import type { CoreMode } from '../../../network/core-mode.ts';
import { emitFrom } from '../../../notify/events/emit.ts';
import {
  type Committed,
  type QueuedDelivery,
  splitQueued,
  withQueued,
} from '../../../notify/events/hand-over.ts';
import type { NewEvent } from '../../../notify/events/new-event.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { forceKeyLookup } from '../../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { exists, many, one, single, value } from '../../../platform/db/statement.ts';
import type { ExecutionError } from '../../executions/runner.ts';
import { endFrom, type Fenced, heldValues, isHeld } from '../../executions/sql-parts.ts';
import { queueFrom } from '../../service/queue-from.ts';
import { firstService } from '../../service/service-of.ts';
import { esimTransitions } from '../state.ts';
import { type EsimRow, esimColumns } from './esims.ts';

/**
 * The insert for the eSIMs of ended orders. `source` has the rows of `ended` from `endFrom`: account_id, execution_id, at and
 * the order's queue columns. An order without an ICCID gets no eSIM. A profile state reported by the network takes precedence
 * over ours, because it is newer.
 */
function insertEsimFrom(source: string, status: EsimStatus, core: CoreMode = 'none'): string {
  const isReady = status === 'provisioned';
  const isTerminated = status === 'terminated';
  return `
  insert into esims (
    account_id, id, iccid, execution_id, product_id, status, profile_state, profile_observed_at, profile_error, country,
    country_observed_at, eid, reference, metadata, description, created_at${isReady ? readyColumns(core) : ''}${isTerminated ? ', terminated_at' : ''})
  select
    account_id,
    execution_id,
    queued_iccid,
    execution_id,
    queued_product_id,
    '${status}',
    coalesce(queued_observed ->> 'profile_state', '${isReady ? 'released' : 'unknown'}'),
    coalesce((queued_observed ->> 'profile_observed_at')::timestamptz, ${isReady ? 'at' : 'null'}),
    nullif(queued_observed -> 'profile_error', 'null'),
    queued_observed ->> 'country',
    (queued_observed ->> 'country_observed_at')::timestamptz,
    coalesce(queued_observed ->> 'eid', queued_input ->> 'eid'),
    queued_input ->> 'reference',
    coalesce(queued_input -> 'metadata', '{}'),
    queued_input ->> 'description',
    queued_at${isReady ? readyValues(core) : ''}${isTerminated ? ', at' : ''}
  from ${source}
  where queued_iccid is not null`;
}

const readyColumns = (core: CoreMode) => `,
    smdp_address, matching_id, confirmation_code_required, provisioned_at, service, service_version, service_changed_at${
      core === 'mock' ? ', applied_version, applied_at' : ''
    }`;
const readyValues = (core: CoreMode) => `,
    smdp_address,
    matching_id,
    confirmation_code_required,
    at,
    service::jsonb,
    1,
    at${core === 'mock' ? ',\n    1,\n    at' : ''}`;

export type Allotment = Fenced & {
  iccid: string | null;
  sealedMatchingId: string;
};

type Allotted = { id: string; iccid: string | null; progress: Record<string, unknown> };

const allotments = rowsOf<Allotment>({
  account_id: column.uuid((row) => row.account_id),
  execution_id: column.uuid((row) => row.id),
  fence: column.integer((row) => row.fence),
  iccid: column.text((row) => row.iccid),
  matching_id: column.text((row) => row.sealedMatchingId),
});

/**
 * Stores what new orders need before the network is called: a matching id, the product's current profile type, and an ICCID if
 * we choose the ICCIDs. Returns the orders that this worker still holds.
 */
export const allotRows = many<Allotted, [rows: Allotment[]]>('esim_allot', allotments.values)`
update execution_queue q
set iccid = coalesce(q.iccid, given.iccid),
    progress = q.progress || jsonb_build_object(
      'matching_id', given.matching_id,
      'profile_type', (select profile_type from products where products.id = q.product_id))
from ${allotments.table} given
where q.account_id = given.account_id
  and q.id = given.execution_id
  and ${isHeld('q', 'given.fence')}
  and not q.progress ? 'matching_id'
  and ${forceKeyLookup('given.fence')}
returning q.id, q.iccid, q.progress`;

type Ordered = Fenced & { iccid: string; progress: object };
type StoreOutcome = 'stored' | 'lost' | 'taken';

/**
 * Stores the ICCID that the network chose, and the progress; the eSIM exists from then on. `lost`: this worker no longer holds the order. `taken`:
 * another eSIM already has the ICCID.
 */
export const storeOrdered = single<StoreOutcome, [row: Ordered]>('esim_store_ordered', (row) => [
  ...heldValues(row),
  row.iccid,
  JSON.stringify(row.progress),
])`
with ours as (
  select
  from execution_queue q
  where q.account_id = $1 and q.id = $2 and ${isHeld('q', '$3')}
), stored as (
  update execution_queue q
  set iccid = $4,
      progress = q.progress || $5
  where q.account_id = $1
    and q.id = $2
    and ${isHeld('q', '$3')}
    -- All accounts, because an ICCID belongs to at most one eSIM.
    and not exists (select from esims where iccid = $4)
    and not exists (select from execution_queue other where other.iccid = $4 and other.type = 'esim.provision')
  returning 1
)
select
  case
    when exists (select from stored) then 'stored'
    when exists (select from ours) then 'taken'
    else 'lost'
  end as outcome`;

const lockRefused = value<string, [order: Fenced]>('esim_lock_refused', heldValues)`
select iccid
from execution_queue q
where q.account_id = $1
  and q.id = $2
  and ${isHeld('q', '$3')}
  and iccid is not null
  and observed is null
  and not is_terminated
for update`;

const detach = exists<[order: Fenced, iccid: string]>('esim_detach_iccid', ({ account_id, id }, iccid) => [
  account_id,
  id,
  iccid,
])`
update execution_queue q
set iccid = null
where q.account_id = $1
  and q.id = $2
  and not exists (
    select
    from execution_queue change
    where change.account_id = $1 and change.iccid = $3 and change.type <> 'esim.provision'
  )
returning 1`;

/**
 * Takes the ICCID from an order that is about to fail, in the same transaction, so that no eSIM keeps it. Returns null if there
 * is none, if the claim was lost, or if the eSIM must stay: the network has reported on it, or a change of it was requested.
 */
export async function detachIccid(tx: Queryable, order: Fenced): Promise<string | null> {
  // Locked in a statement of its own: the next one then sees every change that was requested before.
  const iccid = await lockRefused(tx, order);
  return iccid !== null && (await detach(tx, order, iccid)) ? iccid : null;
}

/** `noted` is added to the order's progress. */
type Failure = { error: ExecutionError; at: Date; noted: object };

/** A CTE: without an eSIM, the search must still find the order by its metadata. */
export const describeFailed = `
  described as (
    insert into esim_metadata (account_id, key, value, esim_id)
    select account_id, pair.key, pair.value, execution_id
    from ended
    cross join jsonb_each_text(coalesce(queued_input -> 'metadata', '{}')) as pair
    where queued_iccid is null
  )`;

/** Fails an order, and its eSIM if it has an ICCID. Returns false if the claim was lost. */
export const failOrderRow = exists<[held: Fenced, failure: Failure]>(
  'esim_fail_order',
  (held, { error, at, noted }) => [...heldValues(held), JSON.stringify(error), at, JSON.stringify(noted)],
)`
with given as (
  select $1::uuid as account_id, $2::uuid as execution_id, $3::integer as fence, $4::jsonb as error, $5::timestamptz as at,
    $6::jsonb as noted
), ${endFrom('given', { mayFail: true })}, esim as (${insertEsimFrom('ended', esimTransitions.fail.to)}
  -- A terminated eSIM stays terminated, and an ICCID of another eSIM is not ours.
  on conflict do nothing
), ${describeFailed}
select 1
from ended`;

/** Terminates an eSIM whose order is open: inserts its row, and the order can only be rolled back. The caller holds its lock. */
export const terminateQueued = one<EsimRow, [esim: Pick<EsimRow, 'account_id' | 'id'>, at: Date]>(
  'esim_terminate_queued',
  ({ account_id, id }, at) => [account_id, id, at],
)`
with marked as (
  update execution_queue
  set is_terminated = true
  where account_id = $1 and id = $2 and not is_terminated
  returning
    account_id,
    id as execution_id,
    iccid as queued_iccid,
    product_id as queued_product_id,
    input as queued_input,
    observed as queued_observed,
    created_at as queued_at,
    $3::timestamptz as at
)${insertEsimFrom('marked', esimTransitions.terminate.to)}
returning ${esimColumns}`;

export type Provisioned = Fenced & {
  iccid: string;
  smdpAddress: string;
  sealedMatchingId: string;
  confirmationCodeRequired: boolean;
  bundleUuid: string;
  at: Date;
  event: NewEvent;
};

/** `lost`: another worker has claimed the order. `gone`: the eSIM was terminated meanwhile. */
export type Settled = { outcome: 'settled' | 'lost' | 'gone' } & Pick<Committed, 'deliveries' | 'sentAtMs'>;

/** Inserts the first bundle of each eSIM in `source`: account_id, iccid, product_id, reference, price, bundle_id, at. */
export type FirstBundle = (source: string) => string;

/**
 * Ends successful orders in one statement: inserts their eSIMs, queues their bundles for the first attach, writes the events
 * and moves the executions to the history. Returns one outcome per row, in input order.
 */
export async function settleProvisionedRows(
  db: Queryable,
  rows: Provisioned[],
  { firstBundle, core }: { firstBundle: FirstBundle; core: CoreMode },
): Promise<Settled[]> {
  const statement = { name: `esim_settle_provisioned_${core}`, text: textWith(firstBundle, core) };
  const sentAtMs = performance.now();
  const read = await db.query<Outcome & QueuedDelivery>(statement, provisioned.values(rows));
  const { own, deliveriesOf } = splitQueued(read);
  const outcomes = own.sort((a, b) => a.n - b.n);
  return rows.map(({ event }, index) => {
    const { outcome } = outcomes[index] as Outcome;
    return { outcome, deliveries: deliveriesOf(event), sentAtMs };
  });
}

type Outcome = { n: number } & Pick<Settled, 'outcome'>;

const provisioned = rowsOf<Provisioned>({
  account_id: column.uuid((row) => row.account_id),
  execution_id: column.uuid((row) => row.id),
  fence: column.integer((row) => row.fence),
  iccid: column.text((row) => row.iccid),
  smdp_address: column.text((row) => row.smdpAddress),
  matching_id: column.text((row) => row.sealedMatchingId),
  confirmation_code_required: column.boolean((row) => row.confirmationCodeRequired),
  bundle_id: column.uuid((row) => row.bundleUuid),
  service: column.text((row) => JSON.stringify(firstService(row.bundleUuid))),
  at: column.timestamptz((row) => row.at),
  event_id: column.uuid((row) => row.event.uuid),
  event_type: column.text((row) => row.event.type),
  event_at: column.timestamptz((row) => row.event.createdAt),
  event_body: column.text((row) => row.event.body),
  event_subscriptions: column.text((row) => row.event.subscriptions),
});

// Every insert reads from `ended`, so either everything of an order is written or nothing.
const textWith = (firstBundle: FirstBundle, core: CoreMode) => `
with given as (
  select given.*, null::jsonb as error
  from ${provisioned.table} given
), ${endFrom('given', { condition: 'not q.is_terminated' })}, ready as (
  select ended.*, queued_product_id as product_id, queued_input ->> 'reference' as reference, queued_input -> 'price' as price, 1 as version, bundle_id as queue_id
  from ended
), esim as (${insertEsimFrom('ready', esimTransitions.provision.to, core)}
)${core === 'state' ? `, for_core as (${queueFrom('ready')}\n)` : ''}, ${firstBundle('ready')}, ${emitFrom('ready')}
${withQueued(
  `
select
  n::integer,
  case
    when n in (select n from ended) then 'settled'
    -- Not \`exists\`, for which PostgreSQL may read the whole queue.
    when (
      select true
      from execution_queue q
      where q.account_id = given.account_id and q.id = given.execution_id and ${isHeld('q', 'given.fence')}
    ) then 'gone'
    else 'lost'
  end as outcome
from given`,
  2,
)}`;
