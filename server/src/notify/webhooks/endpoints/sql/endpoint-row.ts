import type { Ordering } from '@simplane/contract';

export type EndpointRow = {
  id: string;
  url: string;
  enabled_event_types: string[];
  description: string | null;
  metadata: Record<string, string>;
  ordering: Ordering;
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
  disabled_at: Date | null;
  failing_since: Date | null;
  failure_count: number;
  last_success_at: Date | null;
  last_error: string | null;
  next_attempt_at: Date | null;
  /** Newest first; expired ones may still be stored. Never the secrets themselves. */
  secrets: { created_ms: number; expires_ms: number | null }[];
  api_version: string;
  created_at: Date;
};

export type EndpointKey = { accountUuid: string; endpointUuid: string };

// Two index look-ups, for a failing endpoint only. The account is compared outside them: inside, a plan may read the account's
// whole queue by the primary key.
const nextAttemptAt = `case when status = 'enabled' and failing_since is not null then (
    select min(pending.due_at)
    from (
      (select account_id, due_at
        from delivery_queue
        where endpoint_id = webhook_endpoints.id and attempt_count = 0
        order by id
        limit 1)
      union all
      (select account_id, due_at
        from delivery_queue
        where endpoint_id = webhook_endpoints.id and attempt_count > 0
        order by due_at
        limit 1)) pending
    where pending.account_id = webhook_endpoints.account_id) end`;

const secrets = `(
    select coalesce(
      json_agg(
        json_build_object('created_ms', ${msOf('s.created_at')}, 'expires_ms', ${msOf('s.expires_at')})
        order by s.created_at desc, s.id desc),
      '[]')
    from webhook_secrets s
    where s.account_id = webhook_endpoints.account_id and s.endpoint_id = webhook_endpoints.id)`;

function msOf(column: string): string {
  return `floor(extract(epoch from ${column}) * 1000)`;
}

export const endpointColumns = `id, url, enabled_event_types, description, metadata, ordering, status, disabled_reason,
  disabled_at, failing_since, failure_count, last_success_at, last_error, ${nextAttemptAt} as next_attempt_at,
  ${secrets} as secrets, api_version, created_at`;
