import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cancelUndeliverable } from '../../src/notify/webhooks/endpoints/disable.ts';
import { claimDeliveries } from '../../src/notify/webhooks/sender/sql/claim-deliveries.ts';
import { type Settled, settleDeliveries } from '../../src/notify/webhooks/sender/sql/settle-deliveries.ts';
import { idOfUuid, uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call } from '../support/client.ts';
import { removeOld } from '../support/remove-old.ts';
import { startService, type TestService } from '../support/service.ts';

const lowest = '00000000-0000-0000-0000-000000000000';

let service: TestService;
beforeEach(async () => {
  service = await startService();
});
afterEach(() => service.stop());

/** Creates an endpoint with `count` queued deliveries of one event; returns their ids, newest first. */
async function storeBacklog(count: number) {
  const body = { url: 'http://127.0.0.1:9/', enabled_event_types: ['a.b'] };
  const { json } = await call(service, 'POST', '/v1/webhook_endpoints', { body });
  const event = await call(service, 'POST', '/v1/events/test', { body: { type: 'c.d', data: {} } });
  const { rows } = await service.db.pool.query<{ id: string; endpoint_id: string }>(
    `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
     select $1, uuid_v7(now() + n * interval '1 millisecond'), $2, $3, 'event', now() from generate_series(1, $4) n
     returning id, endpoint_id`,
    [service.accountUuid, uuidOfId('evt', event.json.id), uuidOfId('we', json.id), count],
  );
  const ids = rows.map(({ id }) => idOfUuid('dlv', id)).sort();
  return { endpointUuid: rows[0]?.endpoint_id as string, endpoint: json.id, event: event.json.id, ids };
}

async function walk(path: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let after = '';
  for (;;) {
    const { json } = await call(service, 'GET', `${path}?limit=${limit}${after}`);
    ids.push(...json.data.map(({ id }: { id: string }) => id));
    if (!json.has_more) return ids.sort();
    after = `&starting_after=${json.next_cursor}`;
  }
}

type Outcome = Settled['outcome'];

/** Settles all due deliveries, a few at a time; failed ones are due again immediately. */
async function settleAll(endpointUuid: string, outcomes: Outcome[]): Promise<void> {
  const holder = randomUUID();
  const wanted = [{ accountUuid: service.accountUuid, endpointUuid, slots: 3, afterUuid: lowest }];
  const lease = { holder, leaseMs: 60_000, renewBelowMs: 30_000, now: new Date() };
  for (let turn = 0; ; turn++) {
    const { deliveries } = await claimDeliveries(service.db, { wanted, heldUuids: [], ...lease });
    if (deliveries.length === 0) return;
    const results = deliveries.map((delivery, index) => {
      const drawn = outcomes[(turn + index) % outcomes.length] ?? 'succeeded';
      const outcome = drawn === 'pending' && delivery.attempt_count > 2 ? 'failed' : drawn;
      const retryInMs = outcome === 'pending' ? 0 : null;
      return {
        delivery,
        outcome,
        retryInMs,
        at: new Date(),
        durationMs: 1,
        statusCode: 200,
        error: null,
        excerpt: null,
      };
    });
    await settleDeliveries(service.db, results);
  }
}

test('the lists of an endpoint and of an event have each delivery exactly once while deliveries move to the history', async () => {
  const outcome = fc.constantFrom<Outcome>('succeeded', 'pending', 'failed');
  await fc.assert(
    fc.asyncProperty(
      fc.array(outcome, { minLength: 1, maxLength: 5 }),
      fc.integer({ min: 1, max: 7 }),
      async (outcomes, limit) => {
        const { endpointUuid, endpoint, event, ids } = await storeBacklog(40);
        const paths = [`/v1/webhook_endpoints/${endpoint}/deliveries`, `/v1/events/${event}/deliveries`];
        let isSettling = true;
        const settling = settleAll(endpointUuid, outcomes).finally(() => {
          isSettling = false;
        });
        do {
          for (const seen of await Promise.all(paths.map((path) => walk(path, limit))))
            expect(seen).toEqual(ids);
        } while (isSettling);
        await settling;
        for (const path of paths) expect(await walk(path, 100)).toEqual(ids);
        const { rows } = await service.db.pool.query('select from delivery_queue where endpoint_id = $1', [
          endpointUuid,
        ]);
        expect(rows).toEqual([]);
      },
    ),
    { numRuns: 8 },
  );
});

test('a delivery shows every attempt in order, including the one stored in its own row', async () => {
  const { endpointUuid, ids } = await storeBacklog(1);
  await settleAll(endpointUuid, ['pending', 'pending', 'succeeded']);
  const { json } = await call(service, 'GET', `/v1/deliveries/${ids[0]}`);
  expect(json).toMatchObject({ status: 'succeeded', attempt_count: 3, next_attempt_at: null });
  expect(json.attempts).toHaveLength(3);
  const { rows } = await service.db.pool.query('select number from delivery_attempts order by number');
  expect(rows).toEqual([{ number: 1 }, { number: 2 }]);
});

test('plans made while the queue was empty read few entries when 20,000 deliveries are pending', async () => {
  const { pool } = service.db;
  const { endpointUuid, endpoint, event, ids } = await storeBacklog(8);
  const other = await storeBacklog(1);
  const requests: [string, () => Promise<unknown>][] = [
    ['a delivery', () => call(service, 'GET', `/v1/deliveries/${ids[0]}`)],
    ['a short list', () => call(service, 'GET', `/v1/webhook_endpoints/${endpoint}/deliveries`)],
    ['an event’s list', () => call(service, 'GET', `/v1/events/${event}/deliveries`)],
    ['pending events', () => call(service, 'GET', '/v1/events?delivery=pending&limit=1')],
    ['a retry', () => call(service, 'POST', `/v1/deliveries/${ids[0]}/retry`)],
    ['a claim and its results', () => settleAll(endpointUuid, ['pending', 'succeeded'])],
    ['metrics', () => service.service.metrics.registry.metrics()],
    ['retention', () => removeOld(service, { retentionMs: 0 })],
    ['the deliveries of disabled endpoints', () => cancelUndeliverable(service.db, service.clock)],
    [
      'disabling',
      () => call(service, 'PATCH', `/v1/webhook_endpoints/${endpoint}`, { body: { status: 'disabled' } }),
    ],
  ];
  // Sequential requests get the same connection.
  await pool.query('vacuum (analyze) delivery_queue');
  await pool.query('set plan_cache_mode = force_generic_plan');
  for (const [, request] of requests.slice(0, 5)) await request(); // those that change nothing
  await pool.query(
    `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, created_at)
     select account_id, uuid_v7(now()), gen_random_uuid(), id, 'event', now()
     from webhook_endpoints, generate_series(1, 20000) where id = $1`,
    [other.endpointUuid],
  );
  const readCount = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query(
      `select sum(idx_tup_read)::int as read from pg_stat_user_indexes where relname = 'delivery_queue'`,
    );
    return rows[0].read as number;
  };
  for (const [name, request] of requests) {
    const before = await readCount();
    await request();
    expect((await readCount()) - before, name).toBeLessThan(500);
  }
});
