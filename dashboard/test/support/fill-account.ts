import { composeEvent } from '../../../server/src/notify/events/new-event.ts';
import { uuidOfId } from '../../../server/src/platform/ids/uuid.ts';
import type { TestService } from '../../../server/test/support/service.ts';

type Options = { rows: number; endpointId: string; failures: number };

/** Gives the account this many eSIMs, orders and events, and the endpoint failed deliveries of the newest events. */
export async function fillAccount(
  { db, service, accountUuid }: TestService,
  { rows, endpointId, failures }: Options,
): Promise<void> {
  const events = Array.from({ length: rows }, (_, n) =>
    composeEvent(service, {
      ...{ accountUuid, type: 'esim.provisioned' },
      data: { iccid: String(8_999_901_000_000_000_000n + BigInt(n)), product_id: 'prod_europe_5gb_30d' },
    }),
  );
  const uuids = events.map(({ uuid }) => uuid);
  const product = `'prod_europe_5gb_30d'`;
  const iccid = '(8999901000000000000 + n - 1)::text';
  await insertEvents(db, events);
  await db.pool.query(
    `insert into esims (account_id, id, iccid, execution_id, product_id, status, metadata, created_at)
     select $1, id, ${iccid}, id, ${product}, 'provisioned', jsonb_build_object('order', n::text), now()
     from unnest($2::uuid[]) with ordinality made (id, n)`,
    [accountUuid, uuids],
  );
  await db.pool.query(
    `insert into executions (account_id, id, iccid, type, status, product_id, input, attempts, created_at, finished_at)
     select $1, id, ${iccid}, 'esim.provision', 'succeeded', ${product}, '{}', 1, now(), now()
     from unnest($2::uuid[]) with ordinality made (id, n)`,
    [accountUuid, uuids],
  );
  const endpointUuid = uuidOfId('we', endpointId);
  await db.pool.query(
    `insert into deliveries (account_id, id, event_id, endpoint_id, status, origin, attempt_count, created_at, finished_at,
       duration_ms, status_code, error, response_excerpt)
     select $1, id, id, $2, 'failed', 'event', 1, now(), now(), 42, 500, 'HTTP 500', repeat('no <b>room</b> ', 70)
     from unnest($3::uuid[]) made (id)`,
    [accountUuid, endpointUuid, uuids.slice(-failures)],
  );
  await db.pool.query(
    `update webhook_endpoints set failing_since = now() - interval '1 hour', failure_count = $3
     where account_id = $1 and id = $2`,
    [accountUuid, endpointUuid, failures],
  );
}

/** Adds events like this one, newer than all others. */
export async function addEvents(
  { db, service, accountUuid }: TestService,
  count: number,
  like: { type: string; data: Record<string, unknown> },
): Promise<void> {
  const event = { accountUuid, ...like };
  await insertEvents(
    db,
    Array.from({ length: count }, () => composeEvent(service, event)),
  );
}

async function insertEvents(
  { pool }: TestService['db'],
  events: ReturnType<typeof composeEvent>[],
): Promise<void> {
  await pool.query(
    `insert into events (account_id, id, type, created_at, body)
     select account_id, id, type, now(), body
     from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) event (account_id, id, type, body)`,
    [
      events.map(({ accountUuid }) => accountUuid),
      events.map(({ uuid }) => uuid),
      events.map(({ type }) => type),
      events.map(({ body }) => body),
    ],
  );
}
