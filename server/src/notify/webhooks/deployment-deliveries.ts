import { deployment } from '../../accounts/deployment.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Queryable } from '../../platform/db/database.ts';
import type { Signals } from '../../platform/db/signals.ts';
import { many } from '../../platform/db/statement.ts';
import { iccidOfBody } from '../events/ids-in-body.ts';
import { subscribes } from '../events/undelivered-parts.ts';
import { type OrderKey, promoteAndAnnounce } from './ordered/promote.ts';

type Deps = { db: Queryable; clock: Clock; signals: Pick<Signals, 'announce'> };

// Events per statement and endpoint: 500 take 10 ms for one endpoint, and 100 ms for ten.
const batchSize = 500;
// An endpoint with more waiting gets no more until some have ended; what it has not got stays in the feed. So one that hangs, or was
// disabled for a week, fills no queue.
const maxWaiting = 1_000;

/**
 * Queues what came into the deployment's feed for the deployment's endpoints, until they have everything or enough waits for each. Call
 * it after positions were assigned. Any number of processes may run it, and be killed: an endpoint's place and its deliveries commit
 * together.
 */
export async function queueForDeployment({ db, clock, signals }: Deps): Promise<void> {
  for (;;) {
    const moved = await moveOn(db, deployment.uuid, batchSize, new Date(clock.nowMs()));
    const keys = moved.flatMap(({ orderKeys, endpointUuid }) =>
      (orderKeys ?? []).map((iccid): OrderKey => ({ accountUuid: deployment.uuid, endpointUuid, iccid })),
    );
    await promoteAndAnnounce({ db, signals }, keys);
    if (moved.some(({ queued }) => queued > 0)) signals.announce('deliveries', deployment.uuid);
    if (moved.length === 0) return;
  }
}

type Moved = { endpointUuid: string; queued: number; orderKeys: string[] | null };

// The account is compared outside: inside, a plan may read its whole queue.
const waitingIn = (table: string, condition = '') => `(
      select count(*)
      from (select account_id from ${table} where endpoint_id = p.endpoint_id${condition} limit ${maxWaiting}) waiting
      where waiting.account_id = p.account_id)`;

const moveOn = many<Moved, [deploymentUuid: string, count: number, at: Date]>('deployment_queue_deliveries')`
with places as materialized (
  -- Waits for a process that moves the same endpoint, and then goes on from its new place.
  select p.account_id, p.endpoint_id, greatest(p.position, head.expired_through) as position, e.ordering, e.enabled_event_types
  from endpoint_places p
  join webhook_endpoints e on e.account_id = p.account_id and e.id = p.endpoint_id and e.status = 'enabled'
  join event_feed_heads head on head.account_id = p.account_id
  where p.account_id = $1 and p.position < head.last_position
    and ${waitingIn('delivery_queue', ' and attempt_count = 0')}
      + ${waitingIn('delivery_queue', ' and attempt_count > 0')}
      + ${waitingIn('blocked_deliveries')} < ${maxWaiting}
  order by p.endpoint_id
  for update of p
), placed as materialized (
  select places.account_id, places.endpoint_id, places.ordering, places.enabled_event_types,
    run.first_position + one.number - 1 as position, one.event_id, one.event_account_id
  from places
  cross join lateral (
    (select first_position, event_ids, event_accounts
      from event_feed
      where account_id = $1 and first_position <= places.position
      order by first_position desc
      limit 1)
    union all
    (select first_position, event_ids, event_accounts
      from event_feed
      where account_id = $1 and first_position > places.position and first_position <= places.position + $2
      order by first_position)) run
  cross join lateral unnest(run.event_ids, run.event_accounts) with ordinality as one (event_id, event_account_id, number)
  where run.first_position + one.number - 1 between places.position + 1 and places.position + $2
), wanted as materialized (
  -- Events of the deployment itself have no account here: their statement has queued them.
  select placed.account_id, placed.endpoint_id, placed.position, placed.event_id, placed.event_account_id,
    case when placed.ordering = 'esim' then event.iccid end as order_key
  from placed
  cross join lateral (
    select type, case when placed.ordering = 'esim' then ${iccidOfBody('body')} end as iccid
    from events
    where account_id = placed.event_account_id and id = placed.event_id
    offset 0) event
  where ${subscribes('placed.enabled_event_types', 'event.type')}
), queued as (
  insert into delivery_queue (account_id, id, event_id, event_account_id, endpoint_id, origin, created_at)
  select account_id, uuid_v7($3), event_id, event_account_id, endpoint_id, 'event', $3
  from wanted
  where order_key is null
  order by position
), put_in_order as (
  insert into blocked_deliveries
    (account_id, id, event_id, event_account_id, endpoint_id, origin, order_key, position, created_at)
  select account_id, uuid_v7($3), event_id, event_account_id, endpoint_id, 'event', order_key, position, $3
  from wanted
  where order_key is not null
), moved as (
  update endpoint_places p
  set position = reached.position
  from (select account_id, endpoint_id, max(position) as position from placed group by account_id, endpoint_id) reached
  where p.account_id = reached.account_id and p.endpoint_id = reached.endpoint_id
  returning p.account_id, p.endpoint_id
)
select moved.endpoint_id as "endpointUuid", count(wanted.event_id)::integer as queued,
  array_agg(distinct wanted.order_key) filter (where wanted.order_key is not null) as "orderKeys"
from moved
left join wanted on wanted.account_id = moved.account_id and wanted.endpoint_id = moved.endpoint_id
group by moved.endpoint_id`;
