import { many, value } from './statement.ts';

type Queue = { queue: string; oldest_due_seconds: number };

/** How long the oldest due work has waited, per queue. Orders count until a worker claims them, deliveries until they end. */
export const readQueues = many<Queue>('queues_read')`
select queue, coalesce(greatest(0, extract(epoch from now() - oldest)), 0)::float8 as oldest_due_seconds
from (
  select 'executions' as queue, (
    select greatest(due_at, leased_until) from execution_queue
    where leased_until is null or leased_until < now()
    order by due_at limit 1) as oldest
  union all
  -- Each endpoint's oldest delivery is the first in its index. Failing endpoints wait by design and are excluded. Of the blocked
  -- ones only those without a position count; the others wait for one that is in the queue.
  select 'deliveries', least((
    select min(first.due_at)
    from webhook_endpoints e cross join lateral (
      (select due_at from delivery_queue where endpoint_id = e.id and attempt_count = 0 and due_at <= now() order by id limit 1)
      union all
      (select due_at from delivery_queue where endpoint_id = e.id and attempt_count > 0 order by due_at limit 1)) first
    where e.status = 'enabled' and e.failing_since is null), (
    select created_at from blocked_deliveries where position is null order by event_id limit 1))
) queues`;

/** How long the core has not had the newest state of an eSIM; null if it has all. What it refused does not count. */
export const readCoreBehind = value<number>('core_queue_behind')`
select greatest(0, extract(epoch from now() - since))::float8 as behind_seconds
from core_queue
where is_refused = false
order by id
limit 1`;
