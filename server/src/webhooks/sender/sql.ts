import { integers, texts, timestamps, uuids } from '../../db/binary-array.ts';
import type { Queryable } from '../../db/database.ts';
import { forceKeyLookup, statusWithoutPartialIndex } from '../../db/planner-hints.ts';
import { pendingEndpoints } from '../pending-endpoints.ts';
import type { Standing } from './lanes.ts';

type EndpointPlace = { accountUuid: string; endpointUuid: string };

/** One that may have something due, with what the database remembers of it. */
export type KnownEndpoint = EndpointPlace & { standing: Standing };

/** An endpoint that may get this many deliveries now. */
export type Wanted = EndpointPlace & { slots: number };

export type ClaimedDelivery = {
  account_id: string;
  id: string;
  event_id: string;
  endpoint_id: string;
  attempt_count: number;
  fence: number;
  body: string;
  url: string;
  /** Those that sign now, each `<id>:<sealed>`, newest first, with a space between. */
  secrets: string;
};

/**
 * Takes due deliveries of just these endpoints, as many as each has room for: what a claim costs does not depend on how
 * much is pending elsewhere (3 ms with a million rows; by due time over all, 470).
 */
export function claimDeliveries(
  db: Queryable,
  wanted: Wanted[],
  leaseMs: number,
  now: Date,
): Promise<ClaimedDelivery[]> {
  return db.query(
    {
      name: 'delivery_claim',
      text: `
with wanted as materialized (
  select w.account_id, w.endpoint_id, w.slots, e.url, (
    select coalesce(string_agg(s.id || ':' || s.sealed, ' ' order by coalesce(s.expires_at, 'infinity') desc, s.id desc), '')
    from webhook_secrets s
    where s.account_id = e.account_id and s.endpoint_id = e.id and (s.expires_at is null or s.expires_at > $5)) as secrets
  from unnest($1::uuid[], $2::uuid[], $3::integer[]) as w (account_id, endpoint_id, slots)
  join webhook_endpoints e on e.account_id = w.account_id and e.id = w.endpoint_id and e.status = 'enabled'
), due as (
  select d.account_id, d.id, d.fence, w.url, w.secrets
  from wanted w cross join lateral (
    select account_id, id, fence from deliveries
    where endpoint_id = w.endpoint_id and status = 'pending' and due_at <= now()
      and (leased_until is null or leased_until < now())
    order by due_at limit w.slots for update skip locked) d
), claimed as (
  update deliveries d set fence = d.fence + 1, leased_until = now() + $4 * interval '1 millisecond'
  from due where d.account_id = due.account_id and d.id = due.id and ${forceKeyLookup('due.fence')}
  returning d.account_id, d.id, d.event_id, d.endpoint_id, d.attempt_count, d.fence, due.url, due.secrets
)
select claimed.*, event.body
from claimed cross join lateral (
  select body from events where account_id = claimed.account_id and id = claimed.event_id offset 0) event`,
    },
    [
      wanted.map((one) => one.accountUuid),
      wanted.map((one) => one.endpointUuid),
      wanted.map((one) => one.slots),
      leaseMs,
      now,
    ],
  );
}

const standing = `case when e.failing_since is not null then 'failing' when e.last_success_at is not null then 'proven'
              else 'untried' end as standing`;
const isFree = `status = 'pending' and due_at <= now() and (leased_until is null or leased_until < now())`;

/**
 * The endpoints of these accounts that have something due. Not those that fail: they are not in a hurry, and where there
 * are many, the net finds them at a fraction of the cost.
 */
export async function findEndpoints(db: Queryable, accountUuids: string[]): Promise<KnownEndpoint[]> {
  return db.query(
    {
      name: 'sender_endpoints',
      text: `select e.account_id as "accountUuid", e.id as "endpointUuid", ${standing} from webhook_endpoints e
             where e.account_id = any($1) and e.status = 'enabled' and e.failing_since is null
               and exists (select from deliveries where endpoint_id = e.id and ${isFree} offset 0)`,
    },
    [accountUuids],
  );
}

/** The net: every endpoint that has something due, found by skipping from one to the next in the index (28 ms for thousands). */
export async function findEndpointsDue(db: Queryable): Promise<KnownEndpoint[]> {
  return db.query({
    name: 'sender_endpoints_due',
    text: `
with recursive ${pendingEndpoints}
select e.account_id as "accountUuid", e.id as "endpointUuid", ${standing}
from pending
cross join lateral (
  select account_id from deliveries where endpoint_id = pending.endpoint_id and ${isFree} order by due_at limit 1) first
join webhook_endpoints e on e.account_id = first.account_id and e.id = pending.endpoint_id and e.status = 'enabled'`,
  });
}

export type Settled = {
  delivery: ClaimedDelivery;
  outcome: 'succeeded' | 'pending' | 'failed';
  retryInMs: number | null;
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
};

// A healthy endpoint's row is neither locked nor rewritten for every delivery.
const isWorthWriting = `(summed.failures > 0 or e.failing_since is not null or e.last_success_at is null
       or e.last_success_at < summed.last_success_at - interval '1 minute')`;

/**
 * Writes results, attempts and the endpoints' health in one statement, and returns the health of those that fail. A result
 * whose fence is no longer the row's is dropped: another sender has it.
 */
export function settleDeliveries(db: Queryable, results: Settled[]): Promise<EndpointHealth[]> {
  return db.query(
    {
      name: 'delivery_settle',
      text: `
with given as (
  select * from unnest($1::uuid[], $2::uuid[], $3::integer[], $4::text[], $5::bigint[], $6::timestamptz[], $7::integer[],
                       $8::integer[], $9::text[], $10::text[])
    as g (account_id, id, fence, outcome, retry_in_ms, at, duration_ms, status_code, error, excerpt)
), settled as (
  update deliveries d set status = given.outcome, attempt_count = d.attempt_count + 1, leased_until = null,
    due_at = case when given.outcome = 'pending' then now() + given.retry_in_ms * interval '1 millisecond' else d.due_at end,
    finished_at = case when given.outcome = 'pending' then null else given.at end
  from given where d.account_id = given.account_id and d.id = given.id and d.fence = given.fence and ${statusWithoutPartialIndex('d.status', 'pending')}
    and ${forceKeyLookup('given.fence')}
  returning d.account_id, d.id, d.endpoint_id, d.attempt_count, given.outcome, given.at, given.duration_ms, given.status_code,
    given.error, given.excerpt
), logged as (
  insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms, status_code, error, response_excerpt)
  select account_id, id, attempt_count, at, duration_ms, status_code, error, excerpt from settled
), summed as (
  select account_id, endpoint_id, max(at) filter (where outcome = 'succeeded') as last_success_at,
         min(at) filter (where outcome <> 'succeeded') as first_failure_at,
         count(*) filter (where outcome <> 'succeeded') as failures
  from settled group by account_id, endpoint_id
), locked as materialized (
  -- In one order, so that two senders whose batches share endpoints never wait for each other in a circle.
  select e.account_id, e.id from webhook_endpoints e join summed on e.account_id = summed.account_id and e.id = summed.endpoint_id
  where ${isWorthWriting}
  order by e.account_id, e.id for no key update of e
)
update webhook_endpoints e set
  last_success_at = greatest(e.last_success_at, summed.last_success_at),
  -- A success within the batch wins over its failures: the endpoint lives.
  failing_since = case when summed.last_success_at is null then coalesce(e.failing_since, summed.first_failure_at) end,
  failure_count = case when summed.last_success_at is null then e.failure_count + summed.failures else 0 end
from summed join locked on locked.account_id = summed.account_id and locked.id = summed.endpoint_id
where e.account_id = summed.account_id and e.id = summed.endpoint_id
  and ${isWorthWriting}
returning e.account_id, e.id, e.failing_since, e.failure_count`,
    },
    [
      uuids(results.map((one) => one.delivery.account_id)),
      uuids(results.map((one) => one.delivery.id)),
      integers(results.map((one) => one.delivery.fence)),
      texts(results.map((one) => one.outcome)),
      results.map((one) => one.retryInMs),
      timestamps(results.map((one) => one.at)),
      integers(results.map((one) => one.durationMs)),
      integers(results.map((one) => one.statusCode)),
      texts(results.map((one) => one.error)),
      texts(results.map((one) => one.excerpt)),
    ],
  );
}

/** Ends every lease. Only while no sender runs: then each is one of a process that has died. */
export async function freeAbandonedDeliveries(db: Queryable): Promise<number> {
  const freed = await db.query({
    name: 'delivery_free_abandoned',
    text: `update deliveries
           set leased_until = null, fence = fence + 1
           where status = 'pending' and leased_until > now()
           returning 1`,
  });
  return freed.length;
}

/** Gives claims back: nothing was sent, or it was cut off by our own shutdown. */
export async function releaseDeliveries(db: Queryable, deliveries: ClaimedDelivery[]): Promise<void> {
  await db.query(
    {
      name: 'delivery_release',
      text: `update deliveries d set leased_until = null
             from unnest($1::uuid[], $2::uuid[], $3::integer[]) as given (account_id, id, fence)
             where d.account_id = given.account_id and d.id = given.id and d.fence = given.fence
               and ${statusWithoutPartialIndex('d.status', 'pending')} and ${forceKeyLookup('given.fence')}`,
    },
    [
      uuids(deliveries.map((one) => one.account_id)),
      uuids(deliveries.map((one) => one.id)),
      integers(deliveries.map((one) => one.fence)),
    ],
  );
}

/** Gives one claim back and sets it due again later: nothing was sent, and no attempt is counted. */
export async function postponeDelivery(
  db: Queryable,
  delivery: ClaimedDelivery,
  delayMs: number,
): Promise<void> {
  await db.query(
    {
      name: 'delivery_postpone',
      text: `update deliveries set leased_until = null, due_at = now() + $4 * interval '1 millisecond'
             where account_id = $1 and id = $2 and fence = $3 and status = 'pending'`,
    },
    [delivery.account_id, delivery.id, delivery.fence, delayMs],
  );
}
