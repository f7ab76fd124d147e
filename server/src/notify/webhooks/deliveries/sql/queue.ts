import type { Queryable } from '../../../../platform/db/database.ts';
import { count, many, one } from '../../../../platform/db/statement.ts';
import { type AboutEndpoint, bodyAboutEndpoint, supersede } from '../../sql-pieces.ts';
import { type BareRow, type DeliveryRow, historyColumns, queueColumns } from './deliveries.ts';

export const findEvent = one<{ type: string } & AboutEndpoint, [accountUuid: string, eventUuid: string]>(
  'delivery_find_event',
)`
select type, ${bodyAboutEndpoint}
from events
where account_id = $1 and id = $2`;

type NewDelivery = {
  uuid: string;
  eventUuid: string;
  /** Null if the event is the account's own. */
  eventAccountUuid: string | null;
  endpointUuid: string;
  origin: 'replay' | 'retry';
  createdAt: Date;
};

const insertIfEnabled = one<BareRow, [accountUuid: string, delivery: NewDelivery]>(
  'delivery_insert_to_endpoint',
  (accountUuid, { endpointUuid, uuid, eventUuid, eventAccountUuid, origin, createdAt }) => [
    accountUuid,
    endpointUuid,
    uuid,
    eventUuid,
    origin,
    createdAt,
    eventAccountUuid,
  ],
)`
with endpoint as (
  select account_id, id
  from webhook_endpoints
  where account_id = $1 and id = $2 and status = 'enabled'
  for share
), queued as (
  insert into delivery_queue (account_id, id, event_id, event_account_id, endpoint_id, origin, created_at)
  select account_id, $3, $4, $7, id, $5, $6
  from endpoint
  returning ${queueColumns}
), ${supersede('queued')}
select *
from queued`;

/**
 * Queues the event for one endpoint; returns null if it is no longer enabled. The share lock orders this against disabling:
 * either disabling comes later and cancels this row, or it came first and no row is inserted.
 */
export async function insertToEndpoint(
  tx: Queryable,
  accountUuid: string,
  delivery: NewDelivery,
): Promise<DeliveryRow | null> {
  const row = await insertIfEnabled(tx, accountUuid, delivery);
  return row ? { ...row, attempts: [] } : null;
}

type Replayed = {
  eventUuid: string;
  subscriptions: string[];
  exceptEndpointUuid: string | null;
  createdAt: Date;
};

const insertForAll = many<BareRow, [accountUuid: string, replayed: Replayed]>(
  'delivery_insert_to_subscribers',
  (accountUuid, { eventUuid, createdAt, subscriptions, exceptEndpointUuid }) => [
    accountUuid,
    eventUuid,
    createdAt,
    subscriptions,
    exceptEndpointUuid,
  ],
)`
with queued as (
  insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
  select account_id, uuid_v7($3), $2, id, 'replay', $3
  from webhook_endpoints
  where account_id = $1 and status = 'enabled' and enabled_event_types && $4::text[]
    and id is distinct from $5::uuid
  returning ${queueColumns}
), ${supersede('queued')}
select *
from queued`;

/** Queues the event for every endpoint that is currently enabled and subscribed, except the one it is about. */
export async function insertToSubscribers(
  tx: Queryable,
  accountUuid: string,
  replayed: Replayed,
): Promise<DeliveryRow[]> {
  const rows = await insertForAll(tx, accountUuid, replayed);
  return rows.map((row) => ({ ...row, attempts: [] }));
}

/** Never postpones; an attempt in progress continues. Returns 0 if the delivery has ended. */
export const makeDue = count<[accountUuid: string, uuid: string]>('delivery_make_due')`
update delivery_queue
set due_at = least(due_at, now())
where account_id = $1 and id = $2
returning 1`;

/** Makes a blocked delivery due now. From then on it neither waits for others nor do others wait for it. Returns 0 if it is not blocked. */
export const unblockDelivery = count<[accountUuid: string, uuid: string]>('delivery_unblock')`
with unblocked as (
  delete from blocked_deliveries
  where account_id = $1 and id = $2
  returning account_id, id, event_id, event_account_id, endpoint_id, origin, created_at
)
insert into delivery_queue (account_id, id, event_id, event_account_id, endpoint_id, origin, created_at)
select account_id, id, event_id, event_account_id, endpoint_id, origin, created_at
from unblocked
returning 1`;

/** A pending delivery that was canceled, and the ICCID whose later events may have waited for it. */
export type CanceledDelivery = BareRow & { order_key: string | null };

const columns = 'account_id, id, event_id, event_account_id, endpoint_id, origin, created_at, order_key';

/** Returns null if it was not pending in this statement's snapshot. An attempt in progress goes on; its result is dropped. */
export const cancelDelivery = one<CanceledDelivery, [accountUuid: string, given: { uuid: string; at: Date }]>(
  'delivery_cancel',
  (accountUuid, { uuid, at }) => [accountUuid, uuid, at],
)`
with queued as (
  delete from delivery_queue
  where account_id = $1 and id = $2
  returning ${columns}, attempt_count
), blocked as (
  delete from blocked_deliveries
  where account_id = $1 and id = $2
  returning ${columns}, 0 as attempt_count
), removed as (
  select * from queued
  union all
  select * from blocked
), canceled as (
  insert into deliveries
    (account_id, id, event_id, event_account_id, endpoint_id, status, origin, attempt_count, created_at, finished_at)
  select account_id, id, event_id, event_account_id, endpoint_id, 'canceled', origin, attempt_count, created_at, $3
  from removed
  returning ${historyColumns}
)
select canceled.*, removed.order_key
from canceled
join removed on removed.account_id = canceled.account_id and removed.id = canceled.id`;
