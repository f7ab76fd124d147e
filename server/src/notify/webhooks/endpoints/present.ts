import { idPrefixes, type WebhookEndpoint } from '@simplane/contract';
import { type Clock, unixSeconds } from '../../../platform/clock.ts';
import { idOfUuid } from '../../../platform/ids/uuid.ts';
import type { EndpointRow } from './sql/endpoints.ts';

/** Omits the secret, which only the responses to create and rotate contain. */
export function presentEndpoint({ clock }: { clock: Clock }, row: EndpointRow): WebhookEndpoint {
  return {
    id: idOfUuid(idPrefixes.webhookEndpoint, row.id),
    object: 'webhook_endpoint',
    url: row.url,
    enabled_event_types: row.enabled_event_types,
    description: row.description,
    metadata: row.metadata,
    ordering: row.ordering,
    status: row.status,
    ...(row.disabled_reason !== null && { disabled_reason: row.disabled_reason }),
    disabled_at: row.disabled_at && unixSeconds(row.disabled_at),
    failing_since: row.failing_since && unixSeconds(row.failing_since),
    failure_count: row.failure_count,
    last_success_at: row.last_success_at && unixSeconds(row.last_success_at),
    last_error: row.last_error,
    next_attempt_at: row.next_attempt_at && unixSeconds(row.next_attempt_at),
    secrets: row.secrets
      .filter(({ expires_ms: expiresMs }) => expiresMs === null || expiresMs > clock.nowMs())
      .map(({ created_ms: createdMs, expires_ms: expiresMs }) => ({
        created: unixSeconds(createdMs),
        expires_at: expiresMs === null ? null : unixSeconds(expiresMs),
      })),
    missed_count: row.missed.count,
    missed_since: row.missed.since_ms === null ? null : unixSeconds(row.missed.since_ms),
    api_version: row.api_version,
    created: unixSeconds(row.created_at),
  };
}

/** What every event about an endpoint says. */
export function aboutEndpoint({ id, url }: Pick<EndpointRow, 'id' | 'url'>) {
  return { webhook_endpoint_id: idOfUuid(idPrefixes.webhookEndpoint, id), url: withoutSecrets(url) };
}

/** Drops the query and user info: they may hold tokens, which the other endpoints must not see. */
function withoutSecrets(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}
