import type { AttemptOutcome, Delivery, DeliveryStatus } from '@simplane/contract';
import type { Queryable } from '../../../../platform/db/database.ts';
import { many } from '../../../../platform/db/statement.ts';
import { beforeFirst, type IdPage } from '../../../../platform/lists/keyset.ts';

export type AttemptRow = {
  at: Date;
  duration_ms: number;
  status_code: number | null;
  error: string | null;
  response_excerpt: string | null;
};

export type DeliveryRow = {
  id: string;
  event_id: string;
  /** Whose the event is; null if it is the account's own. */
  event_account_id: string | null;
  endpoint_id: string;
  status: DeliveryStatus;
  origin: Delivery['origin'];
  attempt_count: number;
  /** Null once it has ended, and while it waits for another. */
  due_at: Date | null;
  /** The delivery it waits for. */
  blocked_by: string | null;
  created_at: Date;
  attempts: AttemptRow[];
};

/** A delivery as selected by `queueColumns`, `blockedColumns` or `historyColumns`, with its last attempt if that is stored in the row. */
export type BareRow = Omit<DeliveryRow, 'attempts'> & {
  finished_at: Date | null;
  duration_ms: number | null;
  status_code: number | null;
  error: string | null;
  response_excerpt: string | null;
};

const noResult = `null::timestamptz as finished_at, null::integer as duration_ms, null::integer as status_code, null as error,
  null as response_excerpt`;

// The one of the same eSIM that is in the queue, or else the first that waits. The account is compared outside the subqueries:
// inside, a plan may read the account's whole queue by the primary key.
const blockedBy = `(
    select before.id
    from (
      (select account_id, id, 0 as place
        from delivery_queue
        where endpoint_id = blocked_deliveries.endpoint_id and order_key = blocked_deliveries.order_key)
      union all
      (select account_id, id, 1 as place
        from blocked_deliveries first
        where first.endpoint_id = blocked_deliveries.endpoint_id and first.order_key = blocked_deliveries.order_key
          and first.position < coalesce(blocked_deliveries.position, 9223372036854775807)
        order by first.position
        limit 1)) before
    where before.account_id = blocked_deliveries.account_id
    order by before.place
    limit 1)`;

/**
 * A delivery is in `delivery_queue` or `blocked_deliveries` until it ends, then in `deliveries`. The selections have the same
 * columns.
 */
export const queueColumns = `account_id, id, event_id, event_account_id, endpoint_id, 'pending' as status, origin, attempt_count, due_at,
  null::uuid as blocked_by, created_at, ${noResult}`;
const blockedColumns = `account_id, id, event_id, event_account_id, endpoint_id, 'pending' as status, origin, 0 as attempt_count,
  null::timestamptz as due_at, ${blockedBy} as blocked_by, created_at, ${noResult}`;
export const historyColumns = `account_id, id, event_id, event_account_id, endpoint_id, status, origin, attempt_count, null::timestamptz as due_at,
  null::uuid as blocked_by, created_at, finished_at, duration_ms, status_code, error, response_excerpt`;

/** Loads all attempts in one statement: a page of 100 deliveries takes two statements, not 101. */
export async function withAttempts(
  db: Queryable,
  accountUuid: string,
  rows: BareRow[],
): Promise<DeliveryRow[]> {
  const logged = new Map<string, LoggedAttempt[]>();
  const tried = rows.filter(hasLoggedAttempts).map(({ id }) => id);
  for (const attempt of tried.length > 0 ? await listAttempts(db, accountUuid, tried) : []) {
    const earlier = logged.get(attempt.delivery_id);
    if (earlier) earlier.push(attempt);
    else logged.set(attempt.delivery_id, [attempt]);
  }
  return rows.map((row) => withOwnAttempts(row, logged.get(row.id) ?? []));
}

function hasLoggedAttempts({ attempt_count, duration_ms }: BareRow): boolean {
  return attempt_count > (duration_ms === null ? 0 : 1);
}

/** Ignores attempts that were logged after the row was read. */
function withOwnAttempts(row: BareRow, logged: LoggedAttempt[]): DeliveryRow {
  const { finished_at, duration_ms, status_code, error, response_excerpt, ...delivery } = row;
  const attempts: AttemptRow[] = logged.filter(({ number }) => number <= row.attempt_count);
  if (duration_ms !== null && finished_at !== null) {
    attempts.push({ at: finished_at, duration_ms, status_code, error, response_excerpt });
  }
  return { ...delivery, attempts };
}

type LoggedAttempt = AttemptRow & { delivery_id: string; number: number };

const listAttempts = many<LoggedAttempt, [accountUuid: string, deliveryUuids: string[]]>(
  'delivery_list_attempts',
)`
select delivery_id, number, at, duration_ms, status_code, error, response_excerpt
from delivery_attempts
where account_id = $1 and delivery_id = any($2::uuid[])
order by delivery_id, number`;

const findOpenOrEnded = many<BareRow, [accountUuid: string, uuid: string]>('delivery_find')`
select ${queueColumns}
from delivery_queue
where account_id = $1 and id = $2
union all
select ${blockedColumns}
from blocked_deliveries
where account_id = $1 and id = $2
union all
select ${historyColumns}
from deliveries
where account_id = $1 and id = $2`;

export async function findDelivery(
  db: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<DeliveryRow | null> {
  const rows = await findOpenOrEnded(db, accountUuid, uuid);
  const [row] = await withAttempts(db, accountUuid, rows);
  return row ?? null;
}

// One statement per list, so one snapshot: a delivery that ends meanwhile is still listed exactly once.
type List = [accountUuid: string, ofUuid: string, fromUuid: string, count: number];

const listOfEvent = many<BareRow, List>('delivery_list_of_event')`
select *
from (
  select *
  from (select ${queueColumns} from delivery_queue where event_id = $2 offset 0) queued
  where account_id = $1 and id < $3
  union all
  select *
  from (select ${blockedColumns} from blocked_deliveries where event_id = $2 offset 0) blocked
  where account_id = $1 and id < $3
  union all
  (select ${historyColumns}
    from deliveries
    where account_id = $1 and event_id = $2 and id < $3
    order by id desc
    limit $4)
) delivery
order by id desc
limit $4`;

export async function listRowsOfEvent(
  db: Queryable,
  accountUuid: string,
  eventUuid: string,
  { beforeUuid, count }: IdPage,
): Promise<DeliveryRow[]> {
  const rows = await listOfEvent(db, accountUuid, eventUuid, beforeUuid ?? beforeFirst, count);
  return withAttempts(db, accountUuid, rows);
}

// The account is compared outside the subqueries. Inside, a plan may read the account's whole queue by the primary key.
function listOfEndpoint(name: string, parts: string[]) {
  return many<BareRow, List>(name)`
select *
from (
  ${parts.join('\n  union all\n  ')}
) delivery
where account_id = $1
order by id desc
limit $4`;
}

const before = 'id < $3 order by id desc limit $4';

const pending = [
  `(select ${queueColumns} from delivery_queue where endpoint_id = $2 and attempt_count = 0 and ${before})`,
  `(select ${queueColumns} from delivery_queue where endpoint_id = $2 and attempt_count > 0 and ${before})`,
  `(select ${blockedColumns} from blocked_deliveries where endpoint_id = $2 and ${before})`,
];

/** A prepared plan can use the partial indexes only if the condition is that of an index, as a literal. */
function ended(condition: string, page: string): string {
  return `(select ${historyColumns} from deliveries where account_id = $1 and endpoint_id = $2 and ${condition} and ${page})`;
}

const endedBefore = {
  succeeded: ended(`status = 'succeeded'`, before),
  failed: ended(`status = 'failed'`, before),
  canceled: ended(`status = 'canceled'`, before),
};

const listsByStatus: Record<DeliveryStatus | 'any', ReturnType<typeof listOfEndpoint>> = {
  any: listOfEndpoint('delivery_list_of_endpoint', [...pending, ...Object.values(endedBefore)]),
  pending: listOfEndpoint('delivery_list_of_endpoint_pending', pending),
  succeeded: listOfEndpoint('delivery_list_of_endpoint_succeeded', [endedBefore.succeeded]),
  failed: listOfEndpoint('delivery_list_of_endpoint_failed', [endedBefore.failed]),
  canceled: listOfEndpoint('delivery_list_of_endpoint_canceled', [endedBefore.canceled]),
};

export async function listRowsOfEndpoint(
  db: Queryable,
  accountUuid: string,
  { endpointUuid, status }: { endpointUuid: string; status: DeliveryStatus | undefined },
  { beforeUuid, count }: IdPage,
): Promise<DeliveryRow[]> {
  const list = listsByStatus[status ?? 'any'];
  const rows = await list(db, accountUuid, endpointUuid, beforeUuid ?? beforeFirst, count);
  return withAttempts(db, accountUuid, rows);
}

// Including `$3`: attempts of that delivery may be on the next page.
const from = 'id <= $3 order by id desc limit $4';

const tried = {
  pending: `(select ${queueColumns} from delivery_queue where endpoint_id = $2 and attempt_count > 0 and ${from})`,
  succeeded: ended(`status = 'succeeded'`, from),
  retried: ended(`status = 'succeeded' and attempt_count > 1`, from),
  failed: ended(`status = 'failed'`, from),
  canceled: ended(`status = 'canceled' and attempt_count > 0`, from),
};

const listsByOutcome: Record<AttemptOutcome | 'any', ReturnType<typeof listOfEndpoint>> = {
  any: listOfEndpoint('delivery_list_tried_any', [
    tried.pending,
    tried.succeeded,
    tried.failed,
    tried.canceled,
  ]),
  succeeded: listOfEndpoint('delivery_list_tried_succeeded', [tried.succeeded]),
  failed: listOfEndpoint('delivery_list_tried_failed', [
    tried.pending,
    tried.retried,
    tried.failed,
    tried.canceled,
  ]),
};

/** The endpoint's deliveries that have an attempt with this outcome, with all their attempts. */
export async function listTriedDeliveries(
  db: Queryable,
  accountUuid: string,
  { endpointUuid, outcome = 'any' }: { endpointUuid: string; outcome: AttemptOutcome | 'any' | undefined },
  { fromUuid, count }: { fromUuid: string; count: number },
): Promise<DeliveryRow[]> {
  const rows = await listsByOutcome[outcome](db, accountUuid, endpointUuid, fromUuid, count);
  return withAttempts(db, accountUuid, rows);
}

type Counts = { eventUuid: string; pending: number; succeeded: number; failed: number };

/** How many deliveries of each event are pending, succeeded and failed. For the queue, the account is compared outside the subquery. */
export const countByEvent = many<Counts, [accountUuid: string, eventUuids: string[]]>(
  'delivery_count_by_event',
)`
select event.id as "eventUuid", open.pending, ended.succeeded, ended.failed
from unnest($2::uuid[]) as event (id)
cross join lateral (
  select count(*)::integer as pending
  from (
    select account_id from delivery_queue where event_id = event.id
    union all
    select account_id from blocked_deliveries where event_id = event.id
    offset 0) queued
  where queued.account_id = $1
) open
cross join lateral (
  select
    count(*) filter (where status = 'succeeded')::integer as succeeded,
    count(*) filter (where status = 'failed')::integer as failed
  from deliveries
  where account_id = $1 and event_id = event.id
) ended`;
