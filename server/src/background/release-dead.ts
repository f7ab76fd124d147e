import { freeFromHolder } from '../orders/executions/sql-parts.ts';
import { one } from '../platform/db/statement.ts';
import type { Service } from './service.ts';
import { deadAfterMs } from './worker-beat.ts';

type Released = { workers: number; executions: number; endpoints: number; services: number };

/**
 * Ends the leases of workers whose beat has stopped, and forgets those workers. What a lingering transaction has locked is left to
 * expire.
 */
const endLeasesOfDead = one<Released, [deadAfterMs: number]>('worker_end_leases_of_dead')`
with dead as (
  delete from workers
  where beat_at < now() - $1::integer * interval '1 ms'
  returning id
), held as (
  select ctid
  from execution_queue
  where holder in (select id from dead) and leased_until is not null
  for update skip locked
), orders as (
  -- Due now, so that the next claim finds it without looking back.
  update execution_queue
  set ${freeFromHolder},
      due_at = now()
  where ctid = any(array(select ctid from held))
  returning 1
), endpoints as (
  delete from endpoint_leases
  where holder in (select id from dead)
  returning 1
), held_services as (
  select ctid
  from core_queue
  where holder in (select id from dead) and leased_until is not null
  for update skip locked
), services as (
  update core_queue
  set leased_until = null
  where ctid = any(array(select ctid from held_services))
  returning 1
)
select
  (select count(*)::integer from dead) as workers,
  (select count(*)::integer from orders) as executions,
  (select count(*)::integer from endpoints) as endpoints,
  (select count(*)::integer from services) as services`;

/** Lets the work of dead workers go on. */
export async function releaseDead({
  db,
  log,
  signals,
}: Pick<Service, 'db' | 'log' | 'signals'>): Promise<void> {
  const { workers = 0, ...released } = (await endLeasesOfDead(db, deadAfterMs)) ?? {};
  if (workers === 0) return;
  log.warn(
    { workers, ...released },
    'a worker has stopped without giving back its work; it goes on elsewhere',
  );
  signals.announce('executions');
  signals.announce('deliveries');
}
