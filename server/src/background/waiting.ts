import { isToReport } from '../notify/webhooks/endpoints/is-to-report.ts';
import { one } from '../platform/db/statement.ts';

export type Waiting =
  | 'batches'
  | 'closings'
  | 'erasures'
  | 'bundles'
  | 'services'
  | 'resync'
  | 'recoveries'
  | 'groupRetries'
  | 'blocked'
  | 'listeners'
  | 'health'
  | 'returns'
  | 'deadWorkers';

type Beat = { at: Date; worker: string; deadAfterMs: number };

/**
 * Stores that the worker lives, and reads what may wait for a chore, at once: at rest, chores that found nothing took eight
 * transactions a second. Each condition is the chore's own or wider, and finds its first row by an index.
 */
export const beatAndReadWaiting = one<Record<Waiting, boolean>, [beat: Beat]>(
  'worker_beat',
  ({ at, worker, deadAfterMs }) => [at, worker, deadAfterMs],
)`
with beat as (
  insert into workers (id, beat_at)
  values ($2, now())
  on conflict (id) do update
  set beat_at = excluded.beat_at
)
select
  exists (select from batches where finished_at is null) as batches,
  exists (select from account_closings where finished_at is null) as closings,
  exists (select from erasures where finished_at is null) as erasures,
  exists (select from bundles where status = 'active' and expires_at <= $1) as bundles,
  exists (select from esims where service_ends_at <= $1) as services,
  exists (select from core_resync where finished_at is null) as resync,
  exists (select from recoveries where finished_at is null) as recoveries,
  exists (select from failure_group_retries where finished_at is null) as "groupRetries",
  exists (select from blocked_deliveries) as blocked,
  exists (
    select from endpoint_places place
    join event_feed_heads head on head.account_id = place.account_id and head.last_position > place.position) as listeners,
  exists (select from webhook_endpoints where ${isToReport}) as health,
  exists (select from execution_resolutions where closed_at is null) as returns,
  exists (select from workers where id <> $2 and beat_at < now() - $3::integer * interval '1 ms') as "deadWorkers"`;
