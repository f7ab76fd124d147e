import { type Delivery, idPrefixes } from '@simplane/contract';
import { unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import type { AttemptRow, DeliveryRow } from './sql/deliveries.ts';

export function presentDelivery(row: DeliveryRow): Delivery {
  return {
    id: idOfUuid(idPrefixes.delivery, row.id),
    object: 'delivery',
    event_id: idOfUuid(idPrefixes.event, row.event_id),
    webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, row.endpoint_id),
    status: row.status,
    origin: row.origin,
    attempt_count: row.attempt_count,
    next_attempt_at: row.due_at && unixSeconds(row.due_at),
    blocked_by: row.blocked_by && idOfUuid(idPrefixes.delivery, row.blocked_by),
    attempts: row.attempts.map(presentAttempt),
    created: unixSeconds(row.created_at),
  };
}

export function presentAttempt(row: AttemptRow): Delivery['attempts'][number] {
  return {
    at: unixSeconds(row.at),
    duration_ms: row.duration_ms,
    status_code: row.status_code,
    error: row.error,
    response: row.response_excerpt,
  };
}
