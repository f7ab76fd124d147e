import { type InputFor, idPrefixes, type WebhookEndpointStats } from '@simplane/contract';
import type { Context } from '../../../accounts/context.ts';
import { unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { addAll, quantile } from '../../../platform/telemetry/histogram.ts';
import { requireEndpointStatus } from '../endpoints/get.ts';
import { type HourRow, readHours } from './sql.ts';

const hourMs = 3_600_000;

export async function getEndpointStats(
  ctx: Context,
  { params, query }: InputFor<'getEndpointStats'>,
): Promise<WebhookEndpointStats> {
  const { id: endpointUuid } = await requireEndpointStatus(ctx, ctx.db, params.id);
  const nowMs = ctx.clock.nowMs();
  const from = new Date(nowMs - (nowMs % hourMs) - ((query.hours ?? 24) - 1) * hourMs);
  const rows = await readHours(ctx.db, { accountUuid: ctx.account.uuid, endpointUuid, from });
  const hours = rows.map((row) => ({ row, durations: row.duration_counts.split(',').map(Number) }));
  const all: number[] = [];
  for (const { durations } of hours) addAll(all, durations);
  return {
    object: 'webhook_endpoint_stats',
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, endpointUuid),
    from: unixSeconds(from),
    succeeded_count: sum(rows, 'succeeded_count'),
    failed_count: sum(rows, 'failed_count'),
    p50_ms: quantile(all.entries(), 0.5),
    p99_ms: quantile(all.entries(), 0.99),
    hours: hours.map(({ row, durations }) => ({
      hour: unixSeconds(row.hour),
      succeeded_count: row.succeeded_count,
      failed_count: row.failed_count,
      p50_ms: quantile(durations.entries(), 0.5) ?? 0,
      p99_ms: quantile(durations.entries(), 0.99) ?? 0,
    })),
  };
}

function sum(rows: HourRow[], column: 'succeeded_count' | 'failed_count'): number {
  return rows.reduce((total, row) => total + row[column], 0);
}
