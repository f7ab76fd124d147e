import type { Delivery, DeliveryStatus } from '@simplane/contract';
import type { Queryable } from '../../db/database.ts';
import { beforeFirst } from '../../lists/keyset.ts';

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
  due_at: Date;
  created_at: Date;
  attempts: AttemptRow[];
};

type BareRow = Omit<DeliveryRow, 'attempts'>;

const columns = 'id, event_id, endpoint_id, status, origin, attempt_count, due_at, created_at';

export async function findDelivery(
  db: Queryable,
  accountUuid: string,
  uuid: string,
): Promise<DeliveryRow | null> {
  const rows = await db.query<BareRow>(
    { name: 'delivery_find', text: `select ${columns} from deliveries where account_id = $1 and id = $2` },
    [accountUuid, uuid],
  );
  const [row] = await withAttempts(db, accountUuid, rows);
  return row ?? null;
}

type Page = { beforeUuid: string | null; count: number };

const ordered = 'and id < $3 order by id desc limit $4';

export async function listRowsOfEndpoint(
  db: Queryable,
  accountUuid: string,
  { endpointUuid, status }: { endpointUuid: string; status: DeliveryStatus | undefined },
  page: Page,
): Promise<DeliveryRow[]> {
  const values = [accountUuid, endpointUuid, page.beforeUuid ?? beforeFirst, page.count];
  // A prepared plan can use the partial index only if the status is a literal.
  const [suffix, condition] = status === undefined ? ['', ''] : [`_${status}`, `and status = '${status}'`];
  const rows = await db.query<BareRow>(
    {
      name: `delivery_list_of_endpoint${suffix}`,
      text: `select ${columns} from deliveries where account_id = $1 and endpoint_id = $2 ${condition} ${ordered}`,
    },
    values,
  );
  return withAttempts(db, accountUuid, rows);
}

export async function listRowsOfEvent(
  db: Queryable,
  accountUuid: string,
  eventUuid: string,
  page: Page,
): Promise<DeliveryRow[]> {
  const rows = await db.query<BareRow>(
    {
      name: 'delivery_list_of_event',
      text: `select ${columns} from deliveries where account_id = $1 and event_id = $2 ${ordered}`,
    },
    [accountUuid, eventUuid, page.beforeUuid ?? beforeFirst, page.count],
  );
  return withAttempts(db, accountUuid, rows);
}

/** Loads all attempts in one statement: a page of 100 deliveries takes two statements, not 101. */
async function withAttempts(db: Queryable, accountUuid: string, rows: BareRow[]): Promise<DeliveryRow[]> {
  if (rows.length === 0) return [];
  const deliveries = new Map(rows.map((row): [string, DeliveryRow] => [row.id, { ...row, attempts: [] }]));
  for (const { delivery_id, ...attempt } of await listAttempts(db, accountUuid, [...deliveries.keys()])) {
    deliveries.get(delivery_id)?.attempts.push(attempt);
  }
  return [...deliveries.values()];
}

function listAttempts(
  db: Queryable,
  accountUuid: string,
  deliveryUuids: string[],
): Promise<(AttemptRow & { delivery_id: string })[]> {
  return db.query(
    {
      name: 'delivery_list_attempts',
      text: `select delivery_id, at, duration_ms, status_code, error, response_excerpt from delivery_attempts
             where account_id = $1 and delivery_id = any($2::uuid[]) order by delivery_id, number`,
    },
    [accountUuid, deliveryUuids],
  );
}

export async function findEventType(
  db: Queryable,
  accountUuid: string,
  eventUuid: string,
): Promise<string | null> {
  const [row] = await db.query<{ type: string }>(
    { name: 'delivery_find_event', text: 'select type from events where account_id = $1 and id = $2' },
    [accountUuid, eventUuid],
  );
  return row?.type ?? null;
}

// `due_at` uses the database's clock, as in every statement that writes or claims deliveries.
const insertColumns = 'account_id, id, event_id, endpoint_id, status, origin, due_at, created_at';

/** Queues the event for every endpoint that is currently enabled and subscribed. */
export async function insertToSubscribers(
  tx: Queryable,
  accountUuid: string,
  given: { eventUuid: string; subscriptions: string[]; createdAt: Date },
): Promise<DeliveryRow[]> {
  const rows = await tx.query<BareRow>(
    {
      name: 'delivery_insert_to_subscribers',
      text: `insert into deliveries (${insertColumns})
             select account_id, uuid_v7($3), $2, id, 'pending', 'replay', now(), $3
             from webhook_endpoints
             where account_id = $1 and status = 'enabled' and enabled_event_types && $4::text[]
             returning ${columns}`,
    },
    [accountUuid, given.eventUuid, given.createdAt, given.subscriptions],
  );
  return rows.map((row) => ({ ...row, attempts: [] }));
}

/**
 * Queues the event for one endpoint; returns null if it is no longer enabled. The share lock orders this against disabling:
 * either disabling comes later and cancels this row, or it came first and no row is inserted.
 */
export async function insertToEndpoint(
  tx: Queryable,
  accountUuid: string,
  given: {
    uuid: string;
    eventUuid: string;
    endpointUuid: string;
    origin: 'replay' | 'retry';
    createdAt: Date;
  },
): Promise<DeliveryRow | null> {
  const [row] = await tx.query<BareRow>(
    {
      name: 'delivery_insert_to_endpoint',
      text: `insert into deliveries (${insertColumns})
             select account_id, $3, $4, id, 'pending', $5, now(), $6
             from (select account_id, id from webhook_endpoints
                   where account_id = $1 and id = $2 and status = 'enabled' for share) endpoint
             returning ${columns}`,
    },
    [accountUuid, given.endpointUuid, given.uuid, given.eventUuid, given.origin, given.createdAt],
  );
  return row ? { ...row, attempts: [] } : null;
}

/** Never postpones, and keeps the lease, so an attempt in progress continues. Returns false if it is already finished. */
export async function makeDue(tx: Queryable, accountUuid: string, uuid: string): Promise<boolean> {
  const rows = await tx.query(
    {
      name: 'delivery_make_due',
      text: `update deliveries set due_at = least(due_at, now())
             where account_id = $1 and id = $2 and status = 'pending' returning 1`,
    },
    [accountUuid, uuid],
  );
  return rows.length > 0;
}
