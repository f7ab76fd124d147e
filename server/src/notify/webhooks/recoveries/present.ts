import { idPrefixes, type Recovery } from '@simplane/contract';
import { unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import { unixMsOf } from '../../../platform/ids/uuid-range.ts';
import type { RecoveryRow } from './sql.ts';

export function presentRecovery(row: RecoveryRow): Recovery {
  return {
    id: idOfUuid(idPrefixes.recovery, row.id),
    object: 'recovery',
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, row.endpoint_id),
    status: statusOf(row),
    since: unixSeconds(unixMsOf(row.from_event)),
    until: untilOf(row),
    types: row.types,
    progress_percent: progressOf(row),
    checked_count: row.checked_count,
    queued_count: row.queued_count,
    created: unixSeconds(row.created_at),
    finished_at: row.finished_at && unixSeconds(row.finished_at),
  };
}

/** Null if it was to search everything up to now, for which its search begins in the future. */
function untilOf({ until_event, created_at }: RecoveryRow): number | null {
  const untilMs = unixMsOf(until_event);
  return untilMs > created_at.getTime() ? null : unixSeconds(untilMs);
}

function statusOf({ finished_at, is_canceled, position, until_event }: RecoveryRow): Recovery['status'] {
  if (finished_at !== null) return is_canceled ? 'canceled' : 'succeeded';
  return position === until_event ? 'queued' : 'running';
}

/** By time, because counting the period's events would take as long as searching them. 100 only once it has succeeded. */
function progressOf(row: RecoveryRow): number {
  if (statusOf(row) === 'succeeded') return 100;
  const fromMs = unixMsOf(row.from_event);
  const untilMs = Math.min(row.created_at.getTime(), unixMsOf(row.until_event));
  const searchedMs = Math.max(0, untilMs - unixMsOf(row.position));
  return Math.min(99, Math.floor((100 * searchedMs) / Math.max(1, untilMs - fromMs)));
}
