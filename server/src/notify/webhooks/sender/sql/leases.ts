import { count, many, run } from '../../../../platform/db/statement.ts';
import { queuedEndpoints } from '../../sql-pieces.ts';
import type { Standing } from '../lanes.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

/** An endpoint that may have due deliveries, with its health in the database. */
export type KnownEndpoint = { accountUuid: string; endpointUuid: string; standing: Standing };

const columns = `e.account_id as "accountUuid", e.id as "endpointUuid",
  case
    when e.failing_since is not null then 'failing'
    when e.last_success_at is not null then 'proven'
    else 'untried'
  end as standing`;

const hasDueRetry = `exists (
    select from delivery_queue
    where endpoint_id = e.id and attempt_count > 0 and due_at <= now()
    order by due_at
    limit 1)`;

function isOurs(holder: string): string {
  return `not exists (
    select from endpoint_leases l
    where l.endpoint_id = e.id and l.account_id = e.account_id and l.holder <> ${holder} and l.leased_until >= now()
    offset 0)`;
}

/**
 * The endpoints of these accounts with a delivery newer than `sinceUuid` or a due retry. Excludes failing endpoints: they are not
 * urgent, and the fallback scan finds many of them at a fraction of the cost.
 */
export const findEndpoints = many<
  KnownEndpoint,
  [scope: { accountUuids: string[]; holder: string; sinceUuid: string }]
>('sender_endpoints', ({ accountUuids, holder, sinceUuid }) => [accountUuids, holder, sinceUuid])`
select ${columns}
from webhook_endpoints e
where e.account_id = any($1) and e.status = 'enabled' and e.failing_since is null and ${isOurs('$2')} and (
  exists (
    select from delivery_queue
    where endpoint_id = e.id and attempt_count = 0 and id >= $3 and due_at <= now()
    offset 0)
  or ${hasDueRetry})`;

/** Fallback scan: every endpoint with due deliveries, by a skip scan over the index (28 ms for thousands of endpoints). */
export const findEndpointsDue = many<KnownEndpoint, [holder: string]>('sender_endpoints_due')`
with recursive ${queuedEndpoints}, queued as (
  select account_id, endpoint_id from fresh where endpoint_id is not null
  union
  select account_id, endpoint_id from retries where endpoint_id is not null
)
select ${columns}
from queued
join webhook_endpoints e on e.account_id = queued.account_id and e.id = queued.endpoint_id and e.status = 'enabled'
where ${isOurs('$1')} and (
  exists (
    select from delivery_queue
    where endpoint_id = e.id and attempt_count = 0 and due_at <= now()
    offset 0)
  or ${hasDueRetry})`;

/** Ends these leases early, so that another process need not wait for them to expire. */
export const endLeases = run<[holder: string, endpointUuids: string[]]>(
  'lease_end',
  (holder, endpointUuids) => [endpointUuids, holder],
)`
delete from endpoint_leases
where endpoint_id = any($1::uuid[]) and holder = $2`;

/** Ends every lease; returns how many. Call it only while no sender runs: then every lease belongs to a dead process. */
export const endAbandonedLeases = count('lease_end_abandoned')`
delete from endpoint_leases
where leased_until > now()
returning 1`;

/** Deletes the leases of deleted endpoints. */
export const deleteStaleLeases = run('lease_delete_stale')`
delete from endpoint_leases l
where leased_until < now() - interval '1 hour'
  and not exists (
    select
    from webhook_endpoints e
    where e.account_id = l.account_id and e.id = l.endpoint_id)`;

/** Makes a claimed delivery due later without counting an attempt, because nothing was sent. */
export const postponeDelivery = run<[delivery: ClaimedDelivery, delayMs: number]>(
  'delivery_postpone',
  (delivery, delayMs) => [delivery.account_id, delivery.id, delivery.attempt_count, delivery.fence, delayMs],
)`
update delivery_queue
set due_at = now() + $5 * interval '1 millisecond'
where account_id = $1 and id = $2 and attempt_count = $3 and exists (
  select from endpoint_leases
  where endpoint_id = delivery_queue.endpoint_id and account_id = $1 and fence = $4)`;
