import type { Ordering } from '@simplane/contract';
import { deployment } from '../../../accounts/deployment.ts';
import { uuids } from '../../../platform/db/binary-array.ts';
import type { Queryable } from '../../../platform/db/database.ts';
import { column, rowsOf } from '../../../platform/db/rows.ts';
import { count, many, one, run } from '../../../platform/db/statement.ts';
import { iccidOfBody } from '../../events/ids-in-body.ts';
import { isMissed, wasExpectedAt } from '../../events/undelivered-parts.ts';
import {
  type AboutEndpoint,
  bodyAboutEndpoint,
  positionOfEvent,
  positionOfExpired,
  supersede,
} from '../sql-pieces.ts';

export type RecoveryRow = {
  id: string;
  endpoint_id: string;
  from_event: string;
  until_event: string;
  position: string;
  checked_count: number;
  queued_count: number;
  is_canceled: boolean;
  created_at: Date;
  finished_at: Date | null;
  types: string[] | null;
};

const recoveryColumns = `id, endpoint_id, from_event, until_event, position, checked_count, queued_count, is_canceled,
  created_at, finished_at, types`;

type NewRecovery = {
  accountUuid: string;
  uuid: string;
  endpointUuid: string;
  fromEvent: string;
  untilEvent: string;
  types: string[] | null;
  /** Only what is undelivered, instead of all that the endpoint subscribes to now. */
  isOfUndelivered: boolean;
  createdAt: Date;
};

/** Returns null if the endpoint is no longer enabled. */
export const insertRecovery = one<RecoveryRow, [recovery: NewRecovery]>('recovery_insert', (recovery) => [
  recovery.accountUuid,
  recovery.endpointUuid,
  recovery.uuid,
  recovery.fromEvent,
  recovery.untilEvent,
  recovery.createdAt,
  recovery.types,
  recovery.isOfUndelivered,
])`
insert into recoveries (account_id, id, endpoint_id, from_event, until_event, position, created_at, types, is_of_undelivered)
select account_id, $3, id, $4, $5, $5, $6, $7, $8
from webhook_endpoints
where account_id = $1 and id = $2 and status = 'enabled'
returning ${recoveryColumns}`;

export const findRecovery = one<RecoveryRow, [accountUuid: string, uuid: string]>('recovery_find')`
select ${recoveryColumns}
from recoveries
where account_id = $1 and id = $2`;

export const listRecoveryRows = many<
  RecoveryRow,
  [accountUuid: string, endpointUuid: string, beforeUuid: string, count: number]
>('recovery_list')`
select ${recoveryColumns}
from recoveries
where account_id = $1 and endpoint_id = $2 and id < $3
order by id desc
limit $4`;

export type LockedRecovery = {
  account_id: string;
  id: string;
  endpoint_id: string;
  from_event: string;
  until_event: string;
  position: string;
  types: string[] | null;
  is_of_undelivered: boolean;
  created_at: Date;
  enabled_event_types: string[];
  ordering: Ordering;
};

// An event written while the endpoint was disabled may commit after the recovery was requested. So the first batch waits until
// all transactions older than the recovery have ended and their events are visible.
const isReady = `(recovery.position < recovery.until_event
  or age(recovery.xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid))`;

/**
 * Locks one free recovery of another account than these, and its endpoint, without waiting. The endpoint's lock serializes its recoveries and keeps it from being
 * disabled halfway. The recovery at the newest event goes first, so a long recovery does not delay a short one.
 */
export const lockRecovery = one<LockedRecovery, [exceptAccountUuids: string[]]>('recovery_take')`
select recovery.account_id, recovery.id, recovery.endpoint_id, recovery.from_event, recovery.until_event, recovery.position,
  recovery.types, recovery.is_of_undelivered, recovery.created_at, endpoint.enabled_event_types, endpoint.ordering
from recoveries recovery
join webhook_endpoints endpoint on endpoint.account_id = recovery.account_id and endpoint.id = recovery.endpoint_id
where recovery.finished_at is null and endpoint.status = 'enabled' and ${isReady} and recovery.account_id <> all($1::uuid[])
order by recovery.position desc
limit 1
for update of recovery skip locked
for no key update of endpoint skip locked`;

type Step = { position: string; checked: number; queued: number; finishedAt: Date | null };

export const advanceRecovery = run<[recovery: LockedRecovery, step: Step]>(
  'recovery_move',
  ({ account_id, id }, step) => [account_id, id, step.position, step.checked, step.queued, step.finishedAt],
)`
update recoveries
set position = $3, checked_count = checked_count + $4, queued_count = queued_count + $5, finished_at = $6
where account_id = $1 and id = $2`;

/** Ends recoveries whose endpoint was disabled or deleted; the owner requests a new one after enabling it. */
export const closeOrphanedRecoveries = run<[at: Date]>('recovery_close_hopeless')`
with orphaned as (
  select account_id, id
  from recoveries open
  where finished_at is null and not exists (
    select from webhook_endpoints endpoint
    where endpoint.account_id = open.account_id and endpoint.id = open.endpoint_id and endpoint.status = 'enabled')
  for update skip locked
)
update recoveries closed
set finished_at = $1, is_canceled = true
from orphaned
where closed.account_id = orphaned.account_id and closed.id = orphaned.id`;

export type FoundEvent = AboutEndpoint & {
  id: string;
  /** Whose it is; null if it is the account's own. */
  account_id: string | null;
  /** Null if retention has removed the event meanwhile: its place was searched, and it cannot be sent. */
  type: string | null;
  /** For an ordered endpoint. */
  iccid: string | null;
};

type EventRange = Pick<LockedRecovery, 'account_id' | 'endpoint_id' | 'position' | 'from_event' | 'ordering'>;

const iccid = `case when $5 = 'esim' then ${iccidOfBody('body')} end as iccid`;

const readOfAccount = many<FoundEvent, [range: EventRange, count: number]>(
  'recovery_read_events',
  ({ account_id, position, from_event, ordering }, count) => [
    account_id,
    position,
    from_event,
    count,
    ordering,
  ],
)`
select id, null::uuid as account_id, type, ${bodyAboutEndpoint}, ${iccid}
from events
where account_id = $1 and id < $2 and id >= $3
order by id desc
limit $4`;

// An endpoint of the deployment goes on where it was when it is enabled, so it has a delivery of all that it could have missed.
const readOfDeployment = many<FoundEvent, [range: EventRange, count: number]>(
  'recovery_read_missed',
  ({ account_id, position, from_event, ordering, endpoint_id }, count) => [
    ...[account_id, position, from_event, count, ordering, endpoint_id],
  ],
)`
select missed.event_id as id, missed.event_account_id as account_id, event.type, event.body_about_endpoint, event.iccid
from (
  select distinct event_id, event_account_id
  from deliveries
  where account_id = $1 and endpoint_id = $6 and event_id < $2 and event_id >= $3
    and status in ('failed', 'canceled') and not is_superseded
  order by event_id desc
  limit $4) missed
left join lateral (
  select type, ${bodyAboutEndpoint}, ${iccid}
  from events
  where account_id = coalesce(missed.event_account_id, $1) and id = missed.event_id
  offset 0) event on true
order by missed.event_id desc`;

/** The next events before the position that the endpoint may have missed, newest first. */
export function readEvents(db: Queryable, range: EventRange, count: number): Promise<FoundEvent[]> {
  return (range.account_id === deployment.uuid ? readOfDeployment : readOfAccount)(db, range, count);
}

const isMissedEvent = isMissed({ account: '$1', id: '$2' }, 'given.event_id');

const findMissedIds = many<
  { event_id: string },
  [accountUuid: string, endpointUuid: string, eventUuids: Buffer]
>('recovery_find_missed')`
select given.event_id
from unnest($3::uuid[]) as given (event_id)
where ${isMissedEvent}`;

/** Those of the events that a recovery would queue. */
export async function findMissed(
  db: Queryable,
  { account_id, endpoint_id }: { account_id: string; endpoint_id: string },
  eventUuids: string[],
): Promise<Set<string>> {
  const rows = await findMissedIds(db, account_id, endpoint_id, uuids(eventUuids));
  return new Set(rows.map(({ event_id }) => event_id));
}

/** With an ICCID, it is delivered in the order of the feed. */
type MissedEvent = { uuid: string; eventUuid: string; accountUuid: string | null; iccid: string | null };

const given = rowsOf<MissedEvent>(
  {
    id: column.uuid((one) => one.uuid),
    event_id: column.uuid((one) => one.eventUuid),
    event_account_id: column.uuid((one) => one.accountUuid),
    order_key: column.text((one) => one.iccid),
  },
  5,
);

const isExpected = `exists (
    select from webhook_endpoints e
    join events on events.account_id = e.account_id
    where e.account_id = $1 and e.id = $2 and events.id = given.event_id and ${wasExpectedAt('e', 'events')})`;

/** Queues the given events, except those already delivered to the endpoint or pending for it. */
export const insertMissed = count<
  [recovery: LockedRecovery, missed: { events: MissedEvent[]; createdAt: Date }]
>('recovery_insert_missed', ({ account_id, endpoint_id, is_of_undelivered }, { events, createdAt }) => [
  account_id,
  endpoint_id,
  createdAt,
  is_of_undelivered,
  ...given.values(events),
])`
with missed as materialized (
  select $1::uuid as account_id, given.id, given.event_id, given.event_account_id, $2::uuid as endpoint_id, given.order_key, $3::timestamptz as created_at
  from ${given.table} given
  where ${isMissedEvent} and ($4::boolean is not true or given.event_account_id is not null or ${isExpected})
), queued as (
  insert into delivery_queue (account_id, id, event_id, event_account_id, endpoint_id, origin, created_at)
  select account_id, id, event_id, event_account_id, endpoint_id, 'recovery', created_at
  from missed
  where order_key is null
), put_in_order as (
  insert into blocked_deliveries
    (account_id, id, event_id, event_account_id, endpoint_id, origin, order_key, position, created_at)
  select account_id, id, event_id, event_account_id, endpoint_id, 'recovery', order_key,
    coalesce(${positionOfEvent('missed.account_id', 'missed.event_id')}, ${positionOfExpired('missed.account_id', 'missed.event_id')}),
    created_at
  from missed
  where order_key is not null
), ${supersede('missed')}
select 1 from missed`;
