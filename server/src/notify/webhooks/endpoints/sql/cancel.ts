import { isHere } from '../../../../accounts/moves/is-here.ts';
import type { Queryable } from '../../../../platform/db/database.ts';
import { count, run } from '../../../../platform/db/statement.ts';
import { blockedEndpoints, queuedEndpoints } from '../../sql-pieces.ts';
import type { EndpointKey } from './endpoints.ts';

type PendingTable = 'delivery_queue' | 'blocked_deliveries';

/**
 * The CTEs `removed` and `canceled`: move the rows that `waiting (ctid)` has locked to the history. By ctid, because a plan
 * made while the table was empty would scan it completely for a join by key. `waiting` has compared the account; comparing it here
 * too would let the plan read all rows of the account and compare each with every ctid.
 */
function cancelRows(table: PendingTable, at: string): string {
  return `removed as (
  delete from ${table}
  where ctid = any(array(select ctid from waiting))
  returning account_id, id, event_id, event_account_id, endpoint_id, origin, ${table === 'delivery_queue' ? 'attempt_count' : '0 as attempt_count'},
    created_at
), canceled as (
  insert into deliveries
    (account_id, id, event_id, event_account_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
  select account_id, id, event_id, event_account_id, endpoint_id, 'canceled', origin, attempt_count, created_at, ${at}
  from removed
  returning 1
)`;
}

// 1,000 rows take 30 ms. 10,000 exceeded the statement timeout of 10 s on a busy machine, so the endpoint could not be disabled.
const cancelBatchSize = 1_000;

/** The account is compared outside the subquery. Inside, a plan may read the account's whole queue by the primary key. */
function rowsOf(table: PendingTable, condition = ''): string {
  return `(
    select ctid, account_id
    from ${table}
    where endpoint_id = $2${condition}
    limit $4
    for update skip locked)`;
}

function cancelOfEndpoint(table: PendingTable, rows: string) {
  return run<[accountUuid: string, endpointUuid: string, at: Date, count: number]>(
    `endpoint_cancel_pending_${table}`,
  )`
with waiting as (
  select ctid
  from ${rows} pending
  where account_id = $1
  limit $4
), ${cancelRows(table, '$3')}
select 1`;
}

const cancelBlocked = cancelOfEndpoint('blocked_deliveries', rowsOf('blocked_deliveries'));
const cancelQueued = cancelOfEndpoint(
  'delivery_queue',
  `(
    select * from ${rowsOf('delivery_queue', ' and attempt_count = 0')} fresh
    union all
    select * from ${rowsOf('delivery_queue', ' and attempt_count > 0')} retries)`,
);

/**
 * Cancels pending deliveries of a disabled or deleted endpoint. Skips rows a sender is settling, because that sender may be
 * waiting for the endpoint's lock. `cancelUndeliverable` cancels those and any beyond the batch size.
 */
export async function cancelPendingDeliveries(
  tx: Queryable,
  { accountUuid, endpointUuid }: EndpointKey,
  at: Date,
): Promise<void> {
  // Blocked ones first, because they may move to the queue meanwhile.
  for (const cancel of [cancelBlocked, cancelQueued]) {
    await cancel(tx, accountUuid, endpointUuid, at, cancelBatchSize);
  }
}

/** Locked rows of the endpoints in `idle`. */
function rowsOfIdle(table: PendingTable, condition = ''): string {
  return `select q.ctid
  from idle
  cross join lateral (
    select ctid, account_id
    from ${table}
    where endpoint_id = idle.endpoint_id${condition}
    limit $2
    for update skip locked) q
  where q.account_id = idle.account_id`;
}

/** The CTE `idle`: those of the `pending` endpoints that are not enabled. */
function idleOf(pending: string): string {
  return `idle as materialized (
  select pending.account_id, pending.endpoint_id
  from (${pending}) pending
  where ${isHere('pending.account_id')} and not exists (
    select from webhook_endpoints e
    where e.account_id = pending.account_id and e.id = pending.endpoint_id and e.status = 'enabled')
)`;
}

const cancelOfIdle = {
  delivery_queue: count<[at: Date, count: number]>('endpoint_cancel_undeliverable_delivery_queue')`
with recursive ${queuedEndpoints}, ${idleOf(`
    select account_id, endpoint_id from fresh where endpoint_id is not null
    union
    select account_id, endpoint_id from retries where endpoint_id is not null`)}, waiting as (
  ${rowsOfIdle('delivery_queue', ' and attempt_count = 0')}
  union all
  ${rowsOfIdle('delivery_queue', ' and attempt_count > 0')}
  limit $2
), ${cancelRows('delivery_queue', '$1')}
select 1 from canceled`,
  blocked_deliveries: count<[at: Date, count: number]>('endpoint_cancel_undeliverable_blocked_deliveries')`
with recursive ${blockedEndpoints}, ${idleOf(`
    select account_id, endpoint_id from blocked where endpoint_id is not null`)}, waiting as (
  ${rowsOfIdle('blocked_deliveries')}
  limit $2
), ${cancelRows('blocked_deliveries', '$1')}
select 1 from canceled`,
};

/** Cancels one batch of pending deliveries of all disabled and deleted endpoints. */
export async function cancelUndeliverableRows(
  db: Queryable,
  table: PendingTable,
  at: Date,
): Promise<{ mayHaveMore: boolean }> {
  const canceled = await cancelOfIdle[table](db, at, cancelBatchSize);
  return { mayHaveMore: canceled === cancelBatchSize };
}
