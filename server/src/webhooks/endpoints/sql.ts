import type { Queryable } from '../../db/database.ts';
import { beforeFirst } from '../../lists/keyset.ts';
import { pendingEndpoints } from '../pending-endpoints.ts';

export type EndpointRow = {
  id: string;
  url: string;
  enabled_event_types: string[];
  description: string | null;
  metadata: Record<string, string>;
  status: 'enabled' | 'disabled';
  disabled_reason: string | null;
  disabled_at: Date | null;
  api_version: string;
  created_at: Date;
};

export type EndpointKey = { accountUuid: string; endpointUuid: string };

const columns = `id, url, enabled_event_types, description, metadata, status, disabled_reason, disabled_at, api_version,
  created_at`;
const byKey = 'account_id = $1 and id = $2';

export async function findEndpoint(db: Queryable, key: EndpointKey): Promise<EndpointRow | null> {
  const [row] = await db.query<EndpointRow>(
    { name: 'endpoint_find', text: `select ${columns} from webhook_endpoints where ${byKey}` },
    [key.accountUuid, key.endpointUuid],
  );
  return row ?? null;
}

/** Locks until the transaction ends; serializes changes to the endpoint, its secrets and its pending deliveries. */
export async function lockEndpoint(tx: Queryable, key: EndpointKey): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    { name: 'endpoint_lock', text: `select ${columns} from webhook_endpoints where ${byKey} for update` },
    [key.accountUuid, key.endpointUuid],
  );
  return row ?? null;
}

export function listEndpointRows(
  db: Queryable,
  accountUuid: string,
  page: { beforeUuid: string | null; count: number },
): Promise<EndpointRow[]> {
  return db.query(
    {
      name: 'endpoint_list',
      text: `select ${columns} from webhook_endpoints where account_id = $1 and id < $2 order by id desc limit $3`,
    },
    [accountUuid, page.beforeUuid ?? beforeFirst, page.count],
  );
}

/**
 * Serializes creations within an account, so two cannot both take the last slot under the limit. `no key` still allows foreign
 * keys to the account. The count is a separate statement, because its snapshot must be newer than the lock.
 */
export async function lockAndCountEndpoints(tx: Queryable, accountUuid: string): Promise<number> {
  await tx.query(
    { name: 'endpoint_lock_account', text: 'select id from accounts where id = $1 for no key update' },
    [accountUuid],
  );
  const [row] = await tx.query<{ count: number }>(
    { name: 'endpoint_count', text: 'select count(*) as count from webhook_endpoints where account_id = $1' },
    [accountUuid],
  );
  return row?.count ?? 0;
}

export async function insertEndpoint(tx: Queryable, accountUuid: string, row: EndpointRow): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_insert',
      text: `insert into webhook_endpoints (account_id, id, url, enabled_event_types, description, metadata, status,
               api_version, created_at)
             values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    },
    [
      accountUuid,
      row.id,
      row.url,
      row.enabled_event_types,
      row.description,
      JSON.stringify(row.metadata),
      row.status,
      row.api_version,
      row.created_at,
    ],
  );
}

export async function updateEndpointFields(
  tx: Queryable,
  key: EndpointKey,
  row: Pick<EndpointRow, 'url' | 'enabled_event_types' | 'description' | 'metadata'>,
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_update',
      text: `update webhook_endpoints set url = $3, enabled_event_types = $4, description = $5, metadata = $6
             where ${byKey}`,
    },
    [
      key.accountUuid,
      key.endpointUuid,
      row.url,
      row.enabled_event_types,
      row.description,
      JSON.stringify(row.metadata),
    ],
  );
}

/** Resets the failure count even if the endpoint is already enabled: its owner has checked it. */
export async function enableEndpointRow(tx: Queryable, key: EndpointKey): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_enable',
      text: `update webhook_endpoints
             set status = 'enabled', disabled_reason = null, disabled_at = null, failing_since = null, failure_count = 0
             where ${byKey} returning ${columns}`,
    },
    [key.accountUuid, key.endpointUuid],
  );
  return row ?? null;
}

/**
 * Returns null if the endpoint is deleted or already disabled. `reason` is null when the owner disables it. With a `reason`
 * (the service disables it) nothing changes if a success or `enable` has cleared `failing_since` meanwhile.
 */
export async function disableEndpointRow(
  tx: Queryable,
  key: EndpointKey,
  { reason, at }: { reason: string | null; at: Date },
): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_disable',
      text: `update webhook_endpoints set status = 'disabled', disabled_reason = $3, disabled_at = $4
             where ${byKey} and status = 'enabled' and ($3::text is null or failing_since is not null)
             returning ${columns}`,
    },
    [key.accountUuid, key.endpointUuid, reason, at],
  );
  return row ?? null;
}

/** Also deletes its secrets. Returns false if there is no such endpoint. */
export async function deleteEndpointRow(tx: Queryable, key: EndpointKey): Promise<boolean> {
  const rows = await tx.query(
    { name: 'endpoint_delete', text: `delete from webhook_endpoints where ${byKey} returning 1` },
    [key.accountUuid, key.endpointUuid],
  );
  return rows.length > 0;
}

// 1,000 rows take 30 ms. 10,000 exceeded the statement timeout of 10 s on a busy machine, so the endpoint could not be disabled.
const cancelBatchSize = 1_000;

/**
 * Cancels pending deliveries of a disabled or deleted endpoint. Skips rows a sender is settling, because that sender may be
 * waiting for the endpoint's lock. `cancelUndeliverable` cancels those and any beyond the batch size.
 */
export async function cancelPendingDeliveries(tx: Queryable, key: EndpointKey, at: Date): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_cancel_pending',
      text: `update deliveries d set status = 'canceled', finished_at = $3
             from (select account_id, id from deliveries
                   where account_id = $1 and endpoint_id = $2 and status = 'pending'
                   order by due_at limit $4 for update skip locked) waiting
             where d.account_id = waiting.account_id and d.id = waiting.id`,
    },
    [key.accountUuid, key.endpointUuid, at, cancelBatchSize],
  );
}

/**
 * Cancels one batch of pending deliveries of all disabled and deleted endpoints. Finds the endpoints with a skip scan over the
 * index of pending deliveries.
 */
export async function cancelUndeliverableRows(db: Queryable, at: Date): Promise<{ mayHaveMore: boolean }> {
  const rows = await db.query(
    {
      name: 'endpoint_cancel_undeliverable',
      text: `
with recursive ${pendingEndpoints}, idle as materialized (
  select first.account_id, pending.endpoint_id
  from pending cross join lateral (
    select d.account_id from deliveries d
    where d.endpoint_id = pending.endpoint_id and d.status = 'pending' limit 1) first
  where not exists (
    select from webhook_endpoints e
    where e.account_id = first.account_id and e.id = pending.endpoint_id and e.status = 'enabled')
), waiting as (
  select d.account_id, d.id
  from idle cross join lateral (
    select account_id, id from deliveries
    where account_id = idle.account_id and endpoint_id = idle.endpoint_id and status = 'pending'
    limit $2 for update skip locked) d
  limit $2
)
update deliveries d set status = 'canceled', finished_at = $1
from waiting where d.account_id = waiting.account_id and d.id = waiting.id
returning 1`,
    },
    [at, cancelBatchSize],
  );
  return { mayHaveMore: rows.length === cancelBatchSize };
}

export async function insertSecret(
  tx: Queryable,
  key: EndpointKey,
  secret: { uuid: string; sealed: string; createdAt: Date },
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_insert',
      text: `insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at) values ($1, $2, $3, $4, $5)`,
    },
    [key.accountUuid, key.endpointUuid, secret.uuid, secret.sealed, secret.createdAt],
  );
}

/** Expires all current secrets at `expiresAt`, unless they expire earlier. */
export async function expireSecrets(tx: Queryable, key: EndpointKey, expiresAt: Date): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_expire',
      text: `update webhook_secrets set expires_at = least(expires_at, $3) where account_id = $1 and endpoint_id = $2`,
    },
    [key.accountUuid, key.endpointUuid, expiresAt],
  );
}

/** Deletes expired secrets and all but the newest `kept`. */
export async function removeOldSecrets(
  tx: Queryable,
  key: EndpointKey,
  { now, kept }: { now: Date; kept: number },
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_remove_old',
      text: `delete from webhook_secrets where account_id = $1 and endpoint_id = $2
               and (expires_at <= $3 or id not in (
                 select id from webhook_secrets where account_id = $1 and endpoint_id = $2
                 order by expires_at desc nulls first, id desc limit $4))`,
    },
    [key.accountUuid, key.endpointUuid, now, kept],
  );
}
