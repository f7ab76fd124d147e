import type { Delivery, DeliveryStatus } from '@simplane/contract';
import type { Queryable } from '../../../../platform/db/database.ts';

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
export const queueColumns = `account_id, id, event_id, endpoint_id, 'pending' as status, origin, attempt_count, due_at,
  null::uuid as blocked_by, created_at, ${noResult}`;
export const blockedColumns = `account_id, id, event_id, endpoint_id, 'pending' as status, origin, 0 as attempt_count,
  null::timestamptz as due_at, ${blockedBy} as blocked_by, created_at, ${noResult}`;
export const historyColumns = `account_id, id, event_id, endpoint_id, status, origin, attempt_count, null::timestamptz as due_at,
  null::uuid as blocked_by, created_at, finished_at, duration_ms, status_code, error, response_excerpt`;

export type Page = { beforeUuid: string | null; count: number };

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

function listAttempts(db: Queryable, accountUuid: string, deliveryUuids: string[]): Promise<LoggedAttempt[]> {
  return db.query(
    {
      name: 'delivery_list_attempts',
      text: `
select delivery_id, number, at, duration_ms, status_code, error, response_excerpt
from delivery_attempts
where account_id = $1 and delivery_id = any($2::uuid[])
order by delivery_id, number`,
    },
    [accountUuid, deliveryUuids],
  );
}
