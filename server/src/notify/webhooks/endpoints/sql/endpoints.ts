import { missedCountLimit, type Ordering } from '@simplane/contract';
import { lockAccount } from '../../../../accounts/lock-account.ts';
import type { Queryable } from '../../../../platform/db/database.ts';
import { count, many, one, run, value } from '../../../../platform/db/statement.ts';
import { msOfId, undeliveredOf } from '../../../events/undelivered-parts.ts';
import { liveSecrets } from '../../sql-pieces.ts';

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
  /** The undelivered events, counted up to `missedCountLimit`, and the time of the oldest. */
  missed: { count: number; since_ms: number | null };
};

export type EndpointKey = { accountUuid: string; endpointUuid: string };

const ofKey = ({ accountUuid, endpointUuid }: EndpointKey) => [accountUuid, endpointUuid];

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

/** Two index look-ups for an endpoint that missed nothing; 1,000 missed events take 15 ms. */
const missed = `(
    select json_build_object('count', count(*), 'since_ms', ${msOfId('min(missed.id::text)')})
    from ${undeliveredOf('webhook_endpoints', { limit: String(missedCountLimit), order: 'asc' })} missed)`;

function msOf(column: string): string {
  return `floor(extract(epoch from ${column}) * 1000)`;
}

const endpointColumns = `id, url, enabled_event_types, description, metadata, ordering, status, disabled_reason,
  disabled_at, failing_since, failure_count, last_success_at, last_error, ${nextAttemptAt} as next_attempt_at,
  ${secrets} as secrets, api_version, created_at, ${missed} as missed`;

export const findEndpoint = one<EndpointRow, [key: EndpointKey]>('endpoint_find', ofKey)`
select ${endpointColumns}
from webhook_endpoints
where account_id = $1 and id = $2`;

export const findStatus = value<EndpointRow['status'], [key: EndpointKey]>('endpoint_status', ofKey)`
select status
from webhook_endpoints
where account_id = $1 and id = $2`;

/** Locks until the transaction ends; serializes changes to the endpoint, its secrets and its pending deliveries. */
export const lockEndpoint = one<EndpointRow, [key: EndpointKey]>('endpoint_lock', ofKey)`
select ${endpointColumns}
from webhook_endpoints
where account_id = $1 and id = $2
for update`;

/** Locks it too, and gives its row a new version: who knows how to send to the endpoint reads its secrets again. */
export const renewEndpoint = one<EndpointRow, [key: EndpointKey]>('endpoint_renew', ofKey)`
update webhook_endpoints
set url = url
where account_id = $1 and id = $2
returning ${endpointColumns}`;

export const listEndpointRows = many<EndpointRow, [accountUuid: string, beforeUuid: string, count: number]>(
  'endpoint_list',
)`
select ${endpointColumns}
from webhook_endpoints
where account_id = $1 and id < $2
order by id desc
limit $3`;

/** Where to send a request, and the secrets that sign it now. */
type Target = { account_id: string; endpoint_id: string; url: string; secrets: string };

/** Also finds a disabled endpoint. */
export const findTarget = one<Target, [key: EndpointKey, now: Date]>('endpoint_find_target', (key, now) => [
  ...ofKey(key),
  now,
])`
select e.account_id, e.id as endpoint_id, e.url, secret.list as secrets
from webhook_endpoints e
cross join lateral (${liveSecrets('$3')}) secret
where e.account_id = $1 and e.id = $2`;

const countEndpoints = value<number, [accountUuid: string]>('endpoint_count')`
select count(*) as count
from webhook_endpoints
where account_id = $1`;

/** Creations within an account wait for each other, so that two cannot take the last place under its limit. */
export async function lockAndCountEndpoints(tx: Queryable, accountUuid: string): Promise<number> {
  await lockAccount(tx, accountUuid);
  return (await countEndpoints(tx, accountUuid)) ?? 0;
}

export const insertEndpoint = run<[accountUuid: string, row: EndpointRow]>(
  'endpoint_insert',
  (accountUuid, row) => [
    accountUuid,
    row.id,
    row.url,
    row.enabled_event_types,
    row.description,
    JSON.stringify(row.metadata),
    row.ordering,
    row.status,
    row.api_version,
    row.created_at,
  ],
)`
insert into webhook_endpoints
  (account_id, id, url, enabled_event_types, description, metadata, ordering, status, api_version, created_at)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** An endpoint of the deployment gets what comes into the deployment's feed from now on. */
export const insertPlace = run<[accountUuid: string, endpointUuid: string]>('endpoint_insert_place')`
insert into endpoint_places (account_id, endpoint_id, position)
select $1, $2, coalesce((select last_position from event_feed_heads where account_id = $1), 0)`;

type Settings = Pick<EndpointRow, 'url' | 'enabled_event_types' | 'description' | 'metadata' | 'ordering'>;

export const updateEndpointFields = run<[key: EndpointKey, row: Settings]>('endpoint_update', (key, row) => [
  ...ofKey(key),
  row.url,
  row.enabled_event_types,
  row.description,
  JSON.stringify(row.metadata),
  row.ordering,
])`
update webhook_endpoints
set url = $3, enabled_event_types = $4, description = $5, metadata = $6, ordering = $7
where account_id = $1 and id = $2`;

/**
 * Resets the failure count even if the endpoint is already enabled: its owner has checked it. The next success is reported as
 * `recovered` if a failure was reported.
 */
export const enableEndpointRow = one<EndpointRow, [key: EndpointKey]>('endpoint_enable', ofKey)`
update webhook_endpoints
set status = 'enabled', disabled_reason = null, disabled_at = null, failing_since = null, failure_count = 0, last_error = null,
  reported_health = case when reported_health is not null then 'enabled' end
where account_id = $1 and id = $2
returning ${endpointColumns}`;

/**
 * Returns null if the endpoint is deleted or already disabled. `reason` is null when the owner disables it. With a `reason`
 * (the service disables it) nothing changes if a success or `enable` has cleared `failing_since` meanwhile.
 */
export const disableEndpointRow = one<
  EndpointRow,
  [key: EndpointKey, disabling: { reason: string | null; at: Date }]
>('endpoint_disable', (key, { reason, at }) => [...ofKey(key), reason, at])`
update webhook_endpoints
set status = 'disabled', disabled_reason = $3, disabled_at = $4,
  reported_health = case when $3::text is null then reported_health else 'failing' end
where account_id = $1 and id = $2 and status = 'enabled' and ($3::text is null or failing_since is not null)
returning ${endpointColumns}`;

/** Disables the account's endpoints, in the order in which all lock several. `cancelUndeliverable` cancels what waits for them. */
export const disableEndpointsOf = run<[accountUuid: string, disabling: { reason: string; at: Date }]>(
  'endpoint_disable_all',
  (accountUuid, { reason, at }) => [accountUuid, reason, at],
)`
with enabled as (
  select id
  from webhook_endpoints
  where account_id = $1 and status = 'enabled'
  order by id
  for update
)
update webhook_endpoints e
set status = 'disabled', disabled_reason = $2, disabled_at = $3
from enabled
where e.account_id = $1 and e.id = enabled.id`;

/** Also deletes its secrets. Returns 0 if there is no such endpoint. A chore removes its lease, which a claim may have locked. */
export const deleteEndpointRow = count<[key: EndpointKey]>('endpoint_delete', ofKey)`
delete from webhook_endpoints
where account_id = $1 and id = $2
returning 1`;

export const insertSecret = run<
  [key: EndpointKey, secret: { uuid: string; sealed: string; createdAt: Date }]
>('endpoint_secret_insert', (key, secret) => [...ofKey(key), secret.uuid, secret.sealed, secret.createdAt])`
insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at)
values ($1, $2, $3, $4, $5)`;

/** Expires all current secrets at `expiresAt`, unless they expire earlier. */
export const expireSecrets = run<[key: EndpointKey, expiresAt: Date]>(
  'endpoint_secret_expire',
  (key, expiresAt) => [...ofKey(key), expiresAt],
)`
update webhook_secrets
set expires_at = least(expires_at, $3)
where account_id = $1 and endpoint_id = $2`;

/** Deletes expired secrets and all but the newest `kept`. */
export const removeOldSecrets = run<[key: EndpointKey, limit: { now: Date; kept: number }]>(
  'endpoint_secret_remove_old',
  (key, { now, kept }) => [...ofKey(key), now, kept],
)`
with newest as (
  select id
  from webhook_secrets
  where account_id = $1 and endpoint_id = $2
  order by expires_at desc nulls first, id desc
  limit $4
)
delete from webhook_secrets
where account_id = $1 and endpoint_id = $2 and (expires_at <= $3 or id not in (select id from newest))`;
