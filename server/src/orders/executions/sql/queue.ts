import type { ExecutionType } from '@simplane/contract';
import { emitFrom } from '../../../notify/events/emit.ts';
import type { NewEvent } from '../../../notify/events/new-event.ts';
import { texts } from '../../../platform/db/binary-array.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { forceKeyLookup } from '../../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { count, exists, list, many, one } from '../../../platform/db/statement.ts';
import type { WaitingCause } from '../present.ts';
import {
  endFrom,
  type Fenced,
  freeFromHolder,
  hasBatch,
  heldValues,
  indexedBatch,
  isHeld,
} from '../sql-parts.ts';
import type { ExecutionError } from './executions.ts';

/** An execution held by one worker. `fence` proves the claim: every later claim has a higher one. */
export type ClaimedExecution = {
  account_id: string;
  id: string;
  type: ExecutionType;
  product_id: string;
  iccid: string | null;
  input: Record<string, unknown>;
  progress: Record<string, unknown>;
  attempts: number;
  fence: number;
  /** The eSIM was terminated while it was being provisioned. */
  is_terminated: boolean;
  /** The product's profile type in the catalog at the time of the claim. */
  profile_type: string | null;
};

/** `ClaimedExecution` from the queue `q`, without the profile type. */
const claimedColumns =
  'q.account_id, q.id, q.type, q.product_id, q.iccid, q.input, q.progress, q.attempts, q.fence, q.is_terminated';

type Wanted = {
  count: number;
  /** Names the worker that claims. */
  holder: string;
  leaseMs: number;
  /** Ignores executions that came due earlier; null for no lower bound. */
  since: Date | null;
  /** One for each order that has no ICCID yet. Empty if orders get their ICCIDs elsewhere. */
  iccids: string[];
  /** Only these types; all if omitted. */
  types?: ExecutionType[];
  /** With `types`: no order without an ICCID, whose first call might not be repeatable. */
  isRepeatable?: true;
};

/** The claimed executions, and the latest due time among them. */
export type Claimed = { executions: ClaimedExecution[]; latestDueAt: Date | null };

/**
 * Claims due executions that no worker holds, oldest first, for the length of the lease. After it ends, the next claim takes the row
 * and increments its fence, which stops all writes of the old holder. All times are the database's.
 * `due_at` does not change and the lease is not indexed, so a claim that allots no ICCID is a HOT update.
 */
export async function claimExecutionRows(db: Queryable, wanted: Wanted): Promise<Claimed> {
  const { count, holder, leaseMs, since, iccids, types, isRepeatable } = wanted;
  const values: unknown[] = [count, leaseMs, since ?? '-infinity', texts(iccids), holder];
  if (types) values.push(texts(types));
  const statement = types ? (isRepeatable ? claimRepeatable : claimOfTypes) : claim;
  const rows = await db.query<ClaimedExecution & { due_at: Date }>(statement, values);
  let latestDueAt: Date | null = null;
  for (const { due_at: dueAt } of rows) if (!latestDueAt || dueAt > latestDueAt) latestDueAt = dueAt;
  return { executions: rows, latestDueAt };
}

// By ctid: if the queue was empty when it was analyzed, a cached plan with a join by key scans the whole queue.
const textWith = (condition = '') => `
with due as materialized (
  select ctid
  from execution_queue
  -- Always includes the last moments, because the clock may have been set back, for example by a switchover.
  where due_at >= least($3::timestamptz, now() - interval '250 milliseconds')
    and due_at <= now()
    and (leased_until is null or leased_until <= now())
    ${condition}
  order by due_at
  limit $1
  for update skip locked
)
update execution_queue q
set fence = q.fence + 1,
    attempts = q.attempts + 1,
    leased_until = now() + $2::integer * interval '1 millisecond',
    holder = $5::uuid,
    iccid = case when q.iccid is null and q.type = 'esim.provision' then ($4::text[])[due.n] else q.iccid end
from unnest(array(select ctid from due)) with ordinality as due (place, n)
where q.ctid = due.place
returning
  ${claimedColumns},
  q.due_at,
  (select profile_type from products where products.id = q.product_id) as profile_type`;

const claim = { name: 'execution_claim', text: textWith() };
const ofTypes = 'and type = any($6::text[])';
const claimOfTypes = { name: 'execution_claim_of_types', text: textWith(ofTypes) };
const claimRepeatable = {
  name: 'execution_claim_repeatable',
  text: textWith(`${ofTypes}
    and (type <> 'esim.provision' or iccid is not null)`),
};

export type RecoveryPoint = { execution: Fenced; progress: object; leaseMs: number };

const recoveryPoints = rowsOf<RecoveryPoint>({
  account_id: column.uuid(({ execution }) => execution.account_id),
  id: column.uuid(({ execution }) => execution.id),
  fence: column.integer(({ execution }) => execution.fence),
  progress: column.text(({ progress }) => JSON.stringify(progress)),
  lease_ms: column.integer(({ leaseMs }) => leaseMs),
});

const saveHeld = list<number, [points: RecoveryPoint[]]>('execution_progress', recoveryPoints.values)`
update execution_queue q
set progress = q.progress || given.progress::jsonb,
    leased_until = now() + given.lease_ms * interval '1 millisecond'
from ${recoveryPoints.table} given
where q.account_id = given.account_id
  and q.id = given.id
  and ${isHeld('q', 'given.fence')}
  and ${forceKeyLookup('given.fence')}
returning given.n::integer`;

/** Stores a step's result before the next step begins, and renews the lease. Returns whether each execution is still held. */
export async function saveProgressRows(db: Queryable, points: RecoveryPoint[]): Promise<boolean[]> {
  const held = new Set(await saveHeld(db, points));
  return points.map((_, index) => held.has(index + 1));
}

/** `noted` is added to the progress of a failed execution. */
export type End = { error: ExecutionError | null; at: Date; noted?: object };

const endOf = (held: Fenced, end: End) => [
  ...heldValues(held),
  end.error && JSON.stringify(end.error),
  end.at,
  JSON.stringify(end.noted ?? {}),
];

const givenEnd = `$1::uuid as account_id, $2::uuid as execution_id, $3::integer as fence, $4::jsonb as error,
    $5::timestamptz as at, $6::jsonb as noted`;

/** Returns false if another worker has claimed it. */
export const failRow = exists<[held: Fenced, end: End, event: NewEvent]>(
  'execution_fail',
  (held, end, event) => [
    ...endOf(held, end),
    event.uuid,
    event.type,
    event.createdAt,
    event.body,
    event.subscriptions,
  ],
)`
with given as (
  select ${givenEnd}, $7::uuid as event_id, $8::text as event_type, $9::timestamptz as event_at, $10::text as event_body,
    $11::text as event_subscriptions
), ${endFrom('given', { mayFail: true })}, ${emitFrom('ended')}
select 1
from ended`;

/** Returns false if another worker has claimed it. */
export const finishRow = exists<[held: Fenced, end: End]>('execution_finish', endOf)`
with given as (
  select ${givenEnd}
), ${endFrom('given', { mayFail: true })}
select 1
from ended`;

export type Wait = {
  delayMs: number;
  /** Null if it only waits for a worker. */
  waitingFor: WaitingCause | null;
  /** The attempt does not count. */
  isUncounted?: true;
  /** Added to the stored progress. */
  progress?: object;
};

/** Ends the claim; the execution is due again after the delay. Returns false if another worker has claimed it. */
export const release = exists<[held: Fenced, wait: Wait]>(
  'execution_give_back',
  (held, { delayMs, isUncounted, waitingFor, progress }) => [
    ...heldValues(held),
    Math.ceil(delayMs),
    isUncounted ? 1 : 0,
    JSON.stringify({ ...progress, ...(waitingFor && { waiting_for: waitingFor }) }),
  ],
)`
update execution_queue q
set due_at = now() + $4::integer * interval '1 millisecond',
    leased_until = null,
    attempts = q.attempts - $5::integer,
    progress = (q.progress - 'waiting_for') || $6
where q.account_id = $1 and q.id = $2 and ${isHeld('q', '$3')}
returning 1`;

/**
 * Ends every lease. Call it only while no worker runs: then every lease belongs to a dead process. Postponed executions have no
 * lease and keep their due time.
 */
export const releaseOrphanedExecutions = count('execution_release_orphaned')`
update execution_queue
set ${freeFromHolder}
where leased_until is not null
returning 1`;

type Unrun = { accountUuid: string; uuid: string; holder: string };

/** Ends the lease of an order that was accepted with it and never run. False if it was not stored, or is free. */
export const freeUnrun = exists<[order: Unrun]>('execution_free_unrun', ({ accountUuid, uuid, holder }) => [
  accountUuid,
  uuid,
  holder,
])`
update execution_queue
set leased_until = null,
    fence = 0,
    attempts = 0
where account_id = $1 and id = $2 and holder = $3 and fence = 1 and leased_until is not null
returning 1`;

/** An adopted order has a profile at the network before its first claim. */
const isUnsent = (row: string) => `${row}.leased_until is null
  and not ${row}.progress ? 'is_ordered'
  and (${row}.fence = 0 or ${row}.progress -> 'sent_order' = 'false')`;

/**
 * Claims an execution for the caller's transaction, if it certainly never reached the network. A worker's claim locks the same
 * row, so one of the two finds it taken. `sent_order` is false only if a network that forgets calls was not called.
 */
const takeUnsentWhere = (isWanted: string) => `
update execution_queue q
set fence = q.fence + 1,
    leased_until = now() + interval '1 minute'
where q.account_id = $1
  and ${isWanted}
  and ${isUnsent('q')}
returning
  ${claimedColumns},
  null as profile_type`;

export const takeUnsent = one<ClaimedExecution, [accountUuid: string, uuid: string]>(
  'execution_take_unsent',
)`${takeUnsentWhere('q.id = $2')}`;

/** The same for all orders of a batch. */
export const takeUnsentOfBatch = many<ClaimedExecution, [accountUuid: string, batchUuid: string]>(
  'execution_take_unsent_of_batch',
)`${takeUnsentWhere(`${indexedBatch} = $2::uuid::text and ${hasBatch}`)}`;

/** The same for the account's executions of any kind, up to `count`. An array, because `in` may run its limit again for each row. */
export const takeUnsentOfAccount = many<ClaimedExecution, [accountUuid: string, count: number]>(
  'execution_take_unsent_of_account',
)`${takeUnsentWhere(`q.id = any(array(
    select id
    from execution_queue u
    where u.account_id = $1 and ${isUnsent('u')}
    order by id
    limit $2
    for update skip locked))`)}`;

/**
 * Takes an execution from whoever holds it, for the caller's transaction, which ends it. The caller holds the lock of the eSIM that
 * it changes, and a worker writes only under that lock.
 */
export const takeOver = one<ClaimedExecution, [accountUuid: string, uuid: string]>('execution_take_over')`
update execution_queue q
set fence = q.fence + 1,
    leased_until = now() + interval '1 minute'
where q.account_id = $1 and q.id = $2
returning
  ${claimedColumns},
  null as profile_type`;

/** Makes the changes of an eSIM due that wait for the core. The caller holds the eSIM's lock. */
export const wakeChanges = count<[accountUuid: string, iccid: string]>('execution_wake_changes')`
update execution_queue
set due_at = now()
where account_id = $1
  and iccid = $2
  and type <> 'esim.provision'
  and leased_until is null
  and progress ->> 'waiting_for' = 'core'
returning 1`;
