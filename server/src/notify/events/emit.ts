import type { Queryable } from '../../platform/db/database.ts';
import { run } from '../../platform/db/statement.ts';
import { iccidOfBody } from './ids-in-body.ts';
import type { NewEvent } from './new-event.ts';

type Options = { isWanted?: string; isTest?: true };

/**
 * The only way to write events: CTEs for other features' statements. The change, its event and the deliveries to all
 * subscribers are then one statement, so none exists without the others. `source` is a relation with the columns of
 * `eventsGiven`; each row becomes an event. `isWanted` excludes endpoints; `isTest` marks events that test receivers. Ordered
 * deliveries wait in `blocked_deliveries`.
 */
export function emitFrom(source: string, { isWanted = '', isTest }: Options = {}): string {
  return `
  emitted as (
    insert into events (account_id, id, type, created_at, body${isTest ? ', is_test' : ''})
    select account_id, event_id, event_type, event_at, event_body${isTest ? ', true' : ''} from ${source}
  ), subscribed as materialized (
    -- The body is read for ordered endpoints only.
    select source.account_id, source.event_id, source.event_at, endpoint.id as endpoint_id,
      ${deliveryId('source.event_id')} as delivery_id, endpoint.xmin::text as endpoint_version,
      case when endpoint.ordering = 'esim' then ${iccidOfBody('source.event_body')} end as order_key
    from ${source} source
    join webhook_endpoints endpoint on endpoint.account_id = source.account_id and endpoint.status = 'enabled'
      and endpoint.enabled_event_types && string_to_array(source.event_subscriptions, ' ')${isWanted}
  ), fanned_out as (
    insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
    select account_id, delivery_id, event_id, endpoint_id, 'event', event_at
    from subscribed
    where order_key is null
    returning id
  ), put_in_order as (
    insert into blocked_deliveries (account_id, id, event_id, endpoint_id, origin, order_key, created_at)
    select account_id, delivery_id, event_id, endpoint_id, 'event', order_key, event_at
    from subscribed
    where order_key is not null
  )`;
}

/**
 * A UUIDv7 with the time and counter of its event's id, so a batch is appended to each index in order: 12.5 µs a row, compared to
 * 17 µs with ids that are random within a millisecond.
 */
function deliveryId(eventId: string): string {
  return `overlay(gen_random_uuid()::text placing left(${eventId}::text, 18) from 1 for 18)::uuid`;
}

/** The columns that `emitFrom` reads, from six array parameters; see `eventValues`. */
const eventsGiven = `unnest($1::uuid[], $2::uuid[], $3::text[], $4::timestamptz[], $5::text[], $6::text[])
    as given (account_id, event_id, event_type, event_at, event_body, event_subscriptions)`;

function eventValues(events: NewEvent[]): unknown[] {
  return [
    events.map((event) => event.accountUuid),
    events.map((event) => event.uuid),
    events.map((event) => event.type),
    events.map((event) => event.createdAt),
    events.map((event) => event.body),
    events.map((event) => event.subscriptions),
  ];
}

const insertEvents = run<[events: NewEvent[]]>(
  'event_emit',
  eventValues,
)`with given as (select * from ${eventsGiven}), ${emitFrom('given')} select 1`;

/** Writes events in the transaction of a change that takes several statements. */
export async function emit(tx: Queryable, events: NewEvent[]): Promise<void> {
  if (events.length > 0) await insertEvents(tx, events);
}

type ForOthers = { event: NewEvent; exceptEndpointUuid: string };

const insertForOthers = run<[events: ForOthers[]]>('event_emit_to_others', (events) => [
  ...eventValues(events.map(({ event }) => event)),
  events.map((one) => one.exceptEndpointUuid),
])`
with given as (
  select given.*, excepted.endpoint_id as except_endpoint
  from ${eventsGiven}
  join unnest($2::uuid[], $7::uuid[]) as excepted (event_id, endpoint_id) using (event_id)
), ${emitFrom('given', { isWanted: ' and endpoint.id <> source.except_endpoint' })}
select 1`;

/** Like `emit`, but each event is not sent to the endpoint it is about. */
export async function emitToOthers(tx: Queryable, events: ForOthers[]): Promise<void> {
  if (events.length > 0) await insertForOthers(tx, events);
}
