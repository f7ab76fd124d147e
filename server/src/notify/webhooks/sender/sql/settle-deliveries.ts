import type { Queryable } from '../../../../platform/db/database.ts';
import { forceKeyLookup } from '../../../../platform/db/planner-hints.ts';
import { column, rowsOf } from '../../../../platform/db/rows.ts';
import type { ClaimedDelivery } from './claim-deliveries.ts';

export type Settled = {
  delivery: ClaimedDelivery;
  outcome: 'succeeded' | 'pending' | 'failed';
  retryInMs: number | null;
  /** When the attempt started. */
  at: Date;
  durationMs: number;
  statusCode: number | null;
  error: string | null;
  excerpt: string | null;
};

export type EndpointHealth = {
  account_id: string;
  id: string;
  failing_since: Date | null;
  failure_count: number;
  last_error: string | null;
};

const leases = rowsOf<ClaimedDelivery>({
  account_id: column.uuid((one) => one.account_id),
  endpoint_id: column.uuid((one) => one.endpoint_id),
  fence: column.bigint((one) => one.fence),
});

const given = rowsOf<Settled>(
  {
    account_id: column.uuid(({ delivery }) => delivery.account_id),
    id: column.uuid(({ delivery }) => delivery.id),
    fence: column.bigint(({ delivery }) => delivery.fence),
    attempt_count: column.integer(({ delivery }) => delivery.attempt_count),
    outcome: column.text((one) => one.outcome),
    retry_in_ms: column.bigint((one) => one.retryInMs),
    at: column.timestamptz((one) => one.at),
    duration_ms: column.integer((one) => one.durationMs),
    status_code: column.integer((one) => one.statusCode),
    error: column.text((one) => one.error),
    excerpt: column.text((one) => one.excerpt),
  },
  leases.next,
);

// An attempt is settled once: a second write finds a different attempt count.
const isOpen = `q.account_id = held.account_id and q.id = held.id and q.attempt_count = held.attempt_count
    and ${forceKeyLookup('held.attempt_count')}`;
const result = 'held.outcome, held.at, held.duration_ms, held.status_code, held.error, held.excerpt';

// For a healthy endpoint, most deliveries neither lock nor update its row: `last_success_at` is written once a minute. Showing
// the health changed nothing measurable: 971 B of WAL and 50 µs in PostgreSQL a delivery (`bench -- deliver-cost`; before, 972 B).
const isWorthWriting = `(summed.failures > 0 or e.failing_since is not null or e.reported_health in ('failing', 'enabled')
    or e.last_success_at is null or e.last_success_at < summed.last_success_at - interval '1 minute')`;

// Evaluated only for an endpoint with failures and no success in the batch.
const lastError = `(
    select coalesce(failed.error, 'status ' || failed.status_code)
    from (
      select account_id, endpoint_id, at, error, status_code from ended
      union all
      select account_id, endpoint_id, at, error, status_code from retried) failed
    where failed.account_id = e.account_id and failed.endpoint_id = e.id
    order by failed.at desc
    limit 1)`;

const text = `
with held as materialized (
  -- The results whose lease no other process has taken over. Fences are unique across leases.
  select *
  from ${given.table} given
  where given.fence = any(array(
    select own.fence
    from ${leases.table} own
    cross join lateral (
      select fence
      from endpoint_leases
      where endpoint_id = own.endpoint_id and account_id = own.account_id
      offset 0) current
    where current.fence = own.fence))
), ended as (
  delete from delivery_queue q
  using held
  where held.outcome <> 'pending' and ${isOpen}
  returning q.account_id, q.id, q.event_id, q.event_account_id, q.endpoint_id, q.origin, q.attempt_count, q.created_at, ${result}
), retried as (
  update delivery_queue q
  set attempt_count = q.attempt_count + 1,
    due_at = now() + held.retry_in_ms * interval '1 millisecond'
  from held
  where held.outcome = 'pending' and ${isOpen}
  returning q.account_id, q.id, q.endpoint_id, q.attempt_count, ${result}
), history as (
  insert into deliveries (account_id, id, event_id, event_account_id, endpoint_id, status, origin, attempt_count, created_at,
    finished_at, duration_ms, status_code, error, response_excerpt)
  select account_id, id, event_id, event_account_id, endpoint_id, outcome, origin, attempt_count + 1, created_at, at,
    duration_ms, status_code, error, excerpt
  from ended
), logged as (
  insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms, status_code, error, response_excerpt)
  select account_id, id, attempt_count, at, duration_ms, status_code, error, excerpt
  from retried
), summed as (
  select account_id, endpoint_id,
    max(at) filter (where outcome = 'succeeded') as last_success_at,
    min(at) filter (where outcome <> 'succeeded') as first_failure_at,
    count(*) filter (where outcome <> 'succeeded') as failures
  from (
    select account_id, endpoint_id, outcome, at from ended
    union all
    select account_id, endpoint_id, outcome, at from retried) settled
  group by account_id, endpoint_id
), locked as materialized (
  -- Locked in a fixed order, so two senders whose batches share endpoints cannot deadlock.
  select e.account_id, e.id
  from webhook_endpoints e
  join summed on e.account_id = summed.account_id and e.id = summed.endpoint_id
  where ${isWorthWriting}
  order by e.account_id, e.id
  for no key update of e
)
update webhook_endpoints e
set last_success_at = greatest(e.last_success_at, summed.last_success_at),
  -- A success in the batch outweighs its failures: the endpoint works.
  failing_since = case when summed.last_success_at is null then coalesce(e.failing_since, summed.first_failure_at) end,
  failure_count = case when summed.last_success_at is null then e.failure_count + summed.failures else 0 end,
  last_error = case when summed.last_success_at is null then ${lastError} end,
  reported_health = case
    when summed.last_success_at is not null and e.reported_health is not null then 'recovered'
    else e.reported_health
  end
from summed
join locked on locked.account_id = summed.account_id and locked.id = summed.endpoint_id
where e.account_id = summed.account_id and e.id = summed.endpoint_id and ${isWorthWriting}
returning e.account_id, e.id, e.failing_since, e.failure_count, e.last_error`;

/**
 * Moves ended deliveries to the history, schedules the others again, and updates the endpoints' health. Returns the health of the
 * updated endpoints. Drops results for endpoints that another sender has taken over.
 */
export function settleDeliveries(db: Queryable, results: Settled[]): Promise<EndpointHealth[]> {
  const own = new Map(results.map(({ delivery }) => [delivery.fence, delivery]));
  return db.query({ name: 'delivery_settle', text }, [
    ...leases.values([...own.values()]),
    ...given.values(results),
  ]);
}
