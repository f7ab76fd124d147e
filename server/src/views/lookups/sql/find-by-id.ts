import type { SearchType } from '@simplane/contract';
import type { Queryable } from '../../../platform/db/database.ts';

/** Types that have ids of our own. */
export type IdType = Exclude<
  SearchType,
  'esim' | 'account' | 'product' | 'event_consumer' | 'idempotency_key'
>;

/** `about` is a short description. `within` locates what has no path: the ICCID of a bundle, the filters for an audit entry. */
type Found = { about: string; within: string | null; created_at: Date };

// The request log has no `created_at`, but a UUIDv7 begins with its time.
const timeOfId = `to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`;

const selects: Record<IdType, readonly string[]> = {
  event: [`type as about, null as within, created_at from events`],
  execution: [
    `type || ', ' || status as about, null as within, created_at from executions`,
    `type || ', ' || case when attempts = 0 then 'queued' else 'running' end as about, null as within, created_at from execution_queue`,
  ],
  webhook_endpoint: [`url as about, null as within, created_at from webhook_endpoints`],
  delivery: [
    `status as about, null as within, created_at from deliveries`,
    `'pending' as about, null as within, created_at from delivery_queue`,
    `'pending' as about, null as within, created_at from blocked_deliveries`,
  ],
  bundle: [`product_id || ', ' || status as about, iccid as within, created_at from bundles`],
  recovery: [
    `case when finished_at is null then 'open' else 'ended' end as about, null as within, created_at from recoveries`,
  ],
  request: [
    `method || ' ' || path || ', ' || status as about, null as within, ${timeOfId} as created_at from request_log`,
  ],
  audit_entry: [
    `action as about, 'action=' || action || '&target=' || target_id as within, created_at from audit_log`,
  ],
  api_key: [`name as about, null as within, created_at from api_keys`],
};

export async function findById(
  db: Queryable,
  accountUuid: string,
  type: IdType,
  uuid: string,
): Promise<Found | null> {
  const [row] = await db.query<Found>(
    {
      name: `search_${type}`,
      text: selects[type]
        .map((columnsAndTable) => `select ${columnsAndTable} where account_id = $1 and id = $2`)
        .join(' union all '),
    },
    [accountUuid, uuid],
  );
  return row ?? null;
}
