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

/** One endpoint of one account: what every statement about it is given first. */
export type EndpointPlace = { accountUuid: string; endpointUuid: string };

const columns = `id, url, enabled_event_types, description, metadata, status, disabled_reason, disabled_at, api_version,
  created_at`;
const here = 'account_id = $1 and id = $2';

export async function findEndpoint(db: Queryable, place: EndpointPlace): Promise<EndpointRow | null> {
  const [row] = await db.query<EndpointRow>(
    { name: 'endpoint_find', text: `select ${columns} from webhook_endpoints where ${here}` },
    [place.accountUuid, place.endpointUuid],
  );
  return row ?? null;
}

/** Held to the end of the transaction: changes to an endpoint, its secrets and what is pending for it take turns here. */
export async function lockEndpoint(tx: Queryable, place: EndpointPlace): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    { name: 'endpoint_lock', text: `select ${columns} from webhook_endpoints where ${here} for update` },
    [place.accountUuid, place.endpointUuid],
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
 * Creations of one account take turns, so that two cannot both be the last that is allowed. `no key` leaves the account
 * free to be referred to. The count is a statement of its own: its snapshot must be younger than the lock.
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
  place: EndpointPlace,
  row: Pick<EndpointRow, 'url' | 'enabled_event_types' | 'description' | 'metadata'>,
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_update',
      text: `update webhook_endpoints set url = $3, enabled_event_types = $4, description = $5, metadata = $6
             where ${here}`,
    },
    [
      place.accountUuid,
      place.endpointUuid,
      row.url,
      row.enabled_event_types,
      row.description,
      JSON.stringify(row.metadata),
    ],
  );
}

/** Also when it is enabled already: whoever says so has looked, and its failures are counted anew from here. */
export async function enableEndpointRow(tx: Queryable, place: EndpointPlace): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_enable',
      text: `update webhook_endpoints
             set status = 'enabled', disabled_reason = null, disabled_at = null, failing_since = null, failure_count = 0
             where ${here} returning ${columns}`,
    },
    [place.accountUuid, place.endpointUuid],
  );
  return row ?? null;
}

/**
 * Null: it is gone, or disabled already. A `reason` is given when we disable it, and null when its owner does. Ours is
 * void once a success or `enable` has ended the failing that it was reached from.
 */
export async function disableEndpointRow(
  tx: Queryable,
  place: EndpointPlace,
  { reason, at }: { reason: string | null; at: Date },
): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(
    {
      name: 'endpoint_disable',
      text: `update webhook_endpoints set status = 'disabled', disabled_reason = $3, disabled_at = $4
             where ${here} and status = 'enabled' and ($3::text is null or failing_since is not null)
             returning ${columns}`,
    },
    [place.accountUuid, place.endpointUuid, reason, at],
  );
  return row ?? null;
}

/** Its secrets go with it. False: there was none. */
export async function deleteEndpointRow(tx: Queryable, place: EndpointPlace): Promise<boolean> {
  const rows = await tx.query(
    { name: 'endpoint_delete', text: `delete from webhook_endpoints where ${here} returning 1` },
    [place.accountUuid, place.endpointUuid],
  );
  return rows.length > 0;
}

// 10,000 rows take 0.3 s; all at once, 400,000 exceeded the bound on statements, and the endpoint could not be disabled.
const mostCanceledAtOnce = 10_000;

/**
 * Cancels what waits for an endpoint that is no longer sent to. It passes over rows that a sender is settling, since that
 * sender may be waiting for the endpoint; they, and what is beyond the bound, are left to `cancelUndeliverable`.
 */
export async function cancelPendingDeliveries(tx: Queryable, place: EndpointPlace, at: Date): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_cancel_pending',
      text: `update deliveries d set status = 'canceled', finished_at = $3
             from (select account_id, id from deliveries
                   where account_id = $1 and endpoint_id = $2 and status = 'pending'
                   order by due_at limit $4 for update skip locked) waiting
             where d.account_id = waiting.account_id and d.id = waiting.id`,
    },
    [place.accountUuid, place.endpointUuid, at, mostCanceledAtOnce],
  );
}

/**
 * The same for every endpoint that is disabled or gone, as much as fits in one batch; tells whether there may be more. The
 * endpoints are found by skipping from one to the next in the index of what is pending.
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
    [at, mostCanceledAtOnce],
  );
  return { mayHaveMore: rows.length === mostCanceledAtOnce };
}

export async function insertSecret(
  tx: Queryable,
  place: EndpointPlace,
  secret: { uuid: string; sealed: string; createdAt: Date },
): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_insert',
      text: `insert into webhook_secrets (account_id, endpoint_id, id, sealed, created_at) values ($1, $2, $3, $4, $5)`,
    },
    [place.accountUuid, place.endpointUuid, secret.uuid, secret.sealed, secret.createdAt],
  );
}

/** Gives the secrets so far their end, or an earlier one than they had; never a later one. */
export async function expireSecrets(tx: Queryable, place: EndpointPlace, expiresAt: Date): Promise<void> {
  await tx.query(
    {
      name: 'endpoint_secret_expire',
      text: `update webhook_secrets set expires_at = least(expires_at, $3) where account_id = $1 and endpoint_id = $2`,
    },
    [place.accountUuid, place.endpointUuid, expiresAt],
  );
}

/** Removes what no longer signs: expired secrets, and all but the newest `kept`. */
export async function removeOldSecrets(
  tx: Queryable,
  place: EndpointPlace,
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
    [place.accountUuid, place.endpointUuid, now, kept],
  );
}
