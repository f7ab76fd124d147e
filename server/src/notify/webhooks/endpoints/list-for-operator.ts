import { type EndpointHealth, type InputFor, idPrefixes } from '@simplane/contract';
import type { OperatorContext } from '../../../accounts/context.ts';
import { unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { readPageById } from '../../../platform/lists/read-page.ts';
import { type EndpointHealthRow, listEndpointHealth as listRows } from './sql/health.ts';

/** The webhook endpoints of all accounts. */
export function listEndpointHealth(
  { db, clock }: Pick<OperatorContext, 'db' | 'clock'>,
  { query }: InputFor<'listEndpointHealth'>,
) {
  const { status, failing } = query;
  const filters = { status, failing };
  return readPageById(query, {
    scope: { list: 'endpoint_health', accountId: '', filters },
    read: (beforeUuid, count) => listRows(db, filters, { beforeUuid, count }),
    present: (row) => present(row, clock.nowMs()),
  });
}

function present(row: EndpointHealthRow, nowMs: number): EndpointHealth {
  const { oldest_pending_at: oldest } = row;
  return {
    id: idOfUuid(idPrefixes.webhookEndpoint, row.id),
    object: 'endpoint_health',
    account_id: idOfUuid(idPrefixes.account, row.account_id),
    url: row.url,
    status: row.status,
    ...(row.disabled_reason !== null && { disabled_reason: row.disabled_reason }),
    disabled_at: row.disabled_at && unixSeconds(row.disabled_at),
    failing_since: row.failing_since && unixSeconds(row.failing_since),
    failure_count: row.failure_count,
    last_success_at: row.last_success_at && unixSeconds(row.last_success_at),
    last_error: row.last_error,
    backlog: {
      count: row.backlog_count,
      age_seconds: oldest && Math.max(0, Math.floor((nowMs - oldest.getTime()) / 1_000)),
    },
    created: unixSeconds(row.created_at),
  };
}
