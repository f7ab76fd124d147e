import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeId } from '@simplane/contract';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { subscriptionsOf } from '../../src/notify/events/subscriptions.ts';
import { runRecoveries } from '../../src/notify/webhooks/recoveries/run-recoveries.ts';
import type { Database } from '../../src/platform/db/database.ts';
import { allDeliveries } from '../support/all-deliveries.ts';
import { call } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

let service: TestService;
let announced: string[] = [];
beforeAll(async () => {
  service = await startService({
    signals: {
      announce: (topic, subject) => void announced.push(`${topic} ${subject?.replaceAll('-', '')}`),
      on: () => () => {},
      setAlone: () => {},
      hearsAll: () => false,
      stop: async () => {},
    },
  });
});
afterAll(() => service.stop());
beforeEach(() => {
  announced = [];
});

type Status = 'pending' | 'succeeded' | 'failed' | 'canceled';
type Account = { accountUuid: string; key: string; url: string };
type Ids = { uuid: string; id: string };

/** Tests share one database, each with its own account. */
async function newAccount(): Promise<Account> {
  return { ...(await service.createAccount('Deliveries')), url: service.url };
}

async function write(text: string, values: unknown[]): Promise<void> {
  await service.db.pool.query(text, values);
}

async function addEndpoint(
  { accountUuid }: Account,
  { types = ['*'], status = 'enabled' }: { types?: string[]; status?: 'enabled' | 'disabled' } = {},
): Promise<Ids> {
  const uuid = service.service.newUuid();
  await write(
    `insert into webhook_endpoints (account_id, id, url, enabled_event_types, metadata, status, api_version, created_at)
     values ($1, $2, 'https://example.com/', $3, '{}', $4, '2026-11-01', now())`,
    [accountUuid, uuid.toString('hex'), types, status],
  );
  return { uuid: uuid.toString('hex'), id: encodeId('we', uuid) };
}

function eventAt(atMs: number): { uuid: Buffer; id: string } {
  const uuid = service.service.newUuid();
  uuid.writeUIntBE(atMs, 0, 6);
  return { uuid, id: encodeId('evt', uuid) };
}

const insertEvent = `insert into events (account_id, id, type, created_at, body) values ($1, $2, $3, now(), '{}')`;

async function addEvent(
  { accountUuid }: Account,
  { type = 'esim.provisioned', atMs = service.clock.nowMs() }: { type?: string; atMs?: number } = {},
): Promise<Ids> {
  const { uuid, id } = eventAt(atMs);
  await write(insertEvent, [accountUuid, uuid.toString('hex'), type]);
  return { uuid: uuid.toString('hex'), id };
}

async function addDelivery(
  { accountUuid }: Account,
  given: { event: Ids; endpoint: Ids; status?: Status; attempts?: number; dueAt?: Date },
): Promise<Ids> {
  const uuid = service.service.newUuid();
  const {
    event,
    endpoint,
    status = 'pending',
    attempts = 0,
    dueAt = new Date('2099-12-01T00:00:00Z'),
  } = given;
  const values = [accountUuid, uuid.toString('hex'), event.uuid, endpoint.uuid, attempts];
  if (status === 'pending') {
    await write(
      `insert into delivery_queue (account_id, id, event_id, endpoint_id, origin, attempt_count, due_at, created_at)
       values ($1, $2, $3, $4, 'event', $5, $6, '2026-11-30T12:00:00Z')`,
      [...values, dueAt],
    );
  } else {
    await write(
      `insert into deliveries (account_id, id, event_id, endpoint_id, origin, attempt_count, status, created_at)
       values ($1, $2, $3, $4, 'event', $5, $6, '2026-11-30T12:00:00Z')`,
      [...values, status],
    );
  }
  for (let number = attempts; number >= 1; number--) {
    await write(
      `insert into delivery_attempts (account_id, delivery_id, number, at, duration_ms, status_code, error, response_excerpt)
       values ($1, $2, $3::int, '2026-11-30T12:00:00Z'::timestamptz + $3::int * interval '1 second', $3::int * 10, 500, null, 'oops')`,
      [accountUuid, uuid.toString('hex'), number],
    );
  }
  return { uuid: uuid.toString('hex'), id: encodeId('dlv', uuid) };
}

type Row = {
  id: string;
  event_id: string;
  endpoint_id: string;
  status: Status;
  origin: string;
  due: boolean;
  leased_until: Date | null;
};

async function rowsOf({ accountUuid }: Account, origin?: string): Promise<Row[]> {
  const { rows } = await service.db.pool.query<Row>(
    `select replace(id::text, '-', '') as id, replace(event_id::text, '-', '') as event_id,
            replace(endpoint_id::text, '-', '') as endpoint_id, status, origin, due_at <= now() as due, leased_until
     from ${allDeliveries} d where account_id = $1 and ($2::text is null or origin = $2)`,
    [accountUuid, origin ?? null],
  );
  return rows;
}

const errorOf = ({
  status,
  json,
}: {
  status: number;
  json: { error?: { code: string; param?: string } };
}) => [status, json.error?.code, json.error?.param];

describe('a delivery', () => {
  test('shows its attempts in order, and the next attempt only while pending', async () => {
    const account = await newAccount();
    const [event, endpoint] = [await addEvent(account), await addEndpoint(account)];
    const pending = await addDelivery(account, { event, endpoint, attempts: 2 });
    const { status, json } = await call(account, 'GET', `/v1/deliveries/${pending.id}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      id: pending.id,
      object: 'delivery',
      event_id: event.id,
      webhook_endpoint_id: endpoint.id,
      status: 'pending',
      origin: 'event',
      attempt_count: 2,
      next_attempt_at: Date.parse('2099-12-01T00:00:00Z') / 1000,
      blocked_by: null,
      attempts: [1, 2].map((number) => ({
        at: Date.parse('2026-11-30T12:00:00Z') / 1000 + number,
        duration_ms: number * 10,
        status_code: 500,
        error: null,
        response: 'oops',
      })),
      created: Date.parse('2026-11-30T12:00:00Z') / 1000,
    });
    for (const settled of ['succeeded', 'failed', 'canceled'] as const) {
      const { id } = await addDelivery(account, { event, endpoint, status: settled });
      const shown = (await call(account, 'GET', `/v1/deliveries/${id}`)).json;
      expect([shown.status, shown.next_attempt_at, shown.attempts]).toEqual([settled, null, []]);
    }
  });

  test('of another account is not found, nor are its endpoint and event', async () => {
    const [owner, stranger] = [await newAccount(), await newAccount()];
    const [event, endpoint] = [await addEvent(owner), await addEndpoint(owner)];
    const delivery = await addDelivery(owner, { event, endpoint, status: 'failed' });
    const ownEvent = await addEvent(stranger);
    const foreign: [string, string, object | undefined, string][] = [
      ['GET', `/v1/deliveries/${delivery.id}`, undefined, 'id'],
      ['GET', `/v1/webhook_endpoints/${endpoint.id}/deliveries`, undefined, 'id'],
      ['GET', `/v1/events/${event.id}/deliveries`, undefined, 'id'],
      ['POST', `/v1/deliveries/${delivery.id}/retry`, {}, 'id'],
      ['POST', `/v1/events/${event.id}/replay`, {}, 'id'],
      ['POST', `/v1/webhook_endpoints/${endpoint.id}/recover`, { since: 0 }, 'id'],
      [
        'POST',
        `/v1/events/${ownEvent.id}/replay`,
        { webhook_endpoint_id: endpoint.id },
        'webhook_endpoint_id',
      ],
    ];
    for (const [method, path, body, param] of foreign) {
      const reply = await call(stranger, method, path, body && { body });
      expect(errorOf(reply), path).toEqual([404, 'resource_missing', param]);
    }
    const malformed = [
      '/v1/deliveries/dlv_1',
      '/v1/webhook_endpoints/x/deliveries',
      '/v1/events/x/deliveries',
    ];
    for (const path of malformed) {
      expect(errorOf(await call(owner, 'GET', path)), path).toEqual([404, 'resource_missing', 'id']);
    }
    expect(await rowsOf(stranger)).toEqual([]);
    expect(await rowsOf(owner)).toHaveLength(1);
    expect(announced).toEqual([]);
  });
});

describe('the lists of deliveries', () => {
  async function walk(account: Account, path: string, limit: number): Promise<string[]> {
    const seen: string[] = [];
    for (let cursor = ''; ; ) {
      const joiner = path.includes('?') ? '&' : '?';
      const { status, json } = await call(account, 'GET', `${path}${joiner}limit=${limit}${cursor}`);
      expect(status).toBe(200);
      for (const item of json.data) expect(item.attempts).toHaveLength(item.attempt_count);
      seen.push(...json.data.map(({ id }: { id: string }) => id));
      if (!json.has_more) return seen;
      cursor = `&starting_after=${json.next_cursor}`;
    }
  }

  test('return each delivery of an endpoint or event once, newest first, with its attempts', async () => {
    const account = await newAccount();
    const endpoints = [await addEndpoint(account), await addEndpoint(account)];
    const events = [await addEvent(account), await addEvent(account)];
    const made: { id: string; endpoint: Ids; event: Ids; status: Status }[] = [];
    const statuses: Status[] = ['pending', 'succeeded', 'failed', 'canceled'];
    for (let n = 0; n < 24; n++) {
      const [endpoint, event] = [endpoints[n % 2] as Ids, events[(n >> 1) % 2] as Ids];
      const status = statuses[(n % 5) % 4] as Status;
      const { id } = await addDelivery(account, { event, endpoint, status, attempts: n % 4 });
      made.unshift({ id, endpoint, event, status });
    }
    const idsOf = (test: (one: (typeof made)[number]) => boolean) => made.filter(test).map(({ id }) => id);
    for (const endpoint of endpoints) {
      const path = `/v1/webhook_endpoints/${endpoint.id}/deliveries`;
      expect(await walk(account, path, 5)).toEqual(idsOf((one) => one.endpoint === endpoint));
      for (const status of statuses) {
        expect(await walk(account, `${path}?status=${status}`, 3)).toEqual(
          idsOf((one) => one.endpoint === endpoint && one.status === status),
        );
      }
    }
    for (const event of events) {
      expect(await walk(account, `/v1/events/${event.id}/deliveries`, 5)).toEqual(
        idsOf((one) => one.event === event),
      );
    }
  });

  test('refuse a cursor of another endpoint, event or filter', async () => {
    const account = await newAccount();
    const [endpoint, other] = [await addEndpoint(account), await addEndpoint(account)];
    const [event, otherEvent] = [await addEvent(account), await addEvent(account)];
    for (let n = 0; n < 3; n++) await addDelivery(account, { event, endpoint });
    const path = `/v1/webhook_endpoints/${endpoint.id}/deliveries`;
    const ofEvent = `/v1/events/${event.id}/deliveries`;
    const elsewhere = [
      [path, `${path}?status=pending&`],
      [path, `/v1/webhook_endpoints/${other.id}/deliveries?`],
      [path, `${ofEvent}?`],
      [ofEvent, `/v1/events/${otherEvent.id}/deliveries?`],
    ];
    for (const [from, list] of elsewhere) {
      const cursor = (await call(account, 'GET', `${from}?limit=1`)).json.next_cursor;
      const reply = await call(account, 'GET', `${list}starting_after=${cursor}`);
      expect(errorOf(reply), list).toEqual([400, 'cursor_invalid', 'starting_after']);
    }
    expect(errorOf(await call(account, 'GET', `${path}?status=lost`))).toEqual([
      400,
      'parameter_invalid',
      'status',
    ]);
  });
});

describe('a replay', () => {
  test('goes only to endpoints that are currently enabled and subscribed', async () => {
    const account = await newAccount();
    const event = await addEvent(account, { type: 'esim.profile.moved' });
    const wanted = await Promise.all(
      [['*'], ['esim.*'], ['esim.profile.*'], ['bundle.depleted', 'esim.profile.moved']].map((types) =>
        addEndpoint(account, { types }),
      ),
    );
    await addEndpoint(account, { types: ['esim.profile', 'esim.profile.moved.*', 'bundle.*', 'sim.*'] });
    await addEndpoint(account, { status: 'disabled' });
    await addEndpoint(await newAccount());
    const { status, json } = await call(account, 'POST', `/v1/events/${event.id}/replay`, { body: {} });
    expect([status, json.object, json.event_id]).toEqual([202, 'event_replay', event.id]);
    const targets = json.deliveries.map((one: { webhook_endpoint_id: string }) => one.webhook_endpoint_id);
    expect(targets.sort()).toEqual(wanted.map(({ id }) => id).sort());
    for (const delivery of json.deliveries) {
      expect(delivery).toMatchObject({
        event_id: event.id,
        origin: 'replay',
        status: 'pending',
        attempts: [],
      });
      expect((await call(account, 'GET', `/v1/deliveries/${delivery.id}`)).json).toEqual(delivery);
    }
    expect((await rowsOf(account)).map(({ due }) => due)).toEqual([true, true, true, true]);
    expect(announced).toEqual([`deliveries ${account.accountUuid}`]);
  });

  test('returns 202 without deliveries if no endpoint matches', async () => {
    const account = await newAccount();
    const event = await addEvent(account);
    await addEndpoint(account, { types: ['bundle.*'] });
    const { status, json } = await call(account, 'POST', `/v1/events/${event.id}/replay`);
    expect([status, json]).toEqual([202, { object: 'event_replay', event_id: event.id, deliveries: [] }]);
  });

  test('to a named endpoint goes only there, subscribed or not, and is refused if it is unknown or disabled', async () => {
    const account = await newAccount();
    const event = await addEvent(account);
    await addEndpoint(account);
    const named = await addEndpoint(account, { types: ['bundle.*'] });
    const disabled = await addEndpoint(account, { status: 'disabled' });
    const replayTo = (id: string) =>
      call(account, 'POST', `/v1/events/${event.id}/replay`, { body: { webhook_endpoint_id: id } });
    const { status, json } = await replayTo(named.id);
    expect(status).toBe(202);
    expect(json.deliveries).toHaveLength(1);
    expect(json.deliveries[0].webhook_endpoint_id).toBe(named.id);
    expect(errorOf(await replayTo(disabled.id))).toEqual([409, 'state_conflict', 'webhook_endpoint_id']);
    for (const id of [encodeId('we', service.service.newUuid()), 'we_1', '']) {
      expect(errorOf(await replayTo(id))).toEqual([404, 'resource_missing', 'webhook_endpoint_id']);
    }
    expect(await rowsOf(account)).toHaveLength(1);
  });

  test('sent twice with one Idempotency-Key queues once', async () => {
    const account = await newAccount();
    const event = await addEvent(account);
    await addEndpoint(account);
    const replay = () =>
      call(account, 'POST', `/v1/events/${event.id}/replay`, { body: {}, idempotencyKey: 'once' });
    const [first, second] = [await replay(), await replay()];
    expect(second.text).toBe(first.text);
    expect(await rowsOf(account)).toHaveLength(1);
    expect(announced).toHaveLength(1);
  });
});

test('senders are told once of several events that are replayed together', async () => {
  const account = await newAccount();
  const events = [await addEvent(account), await addEvent(account)];
  await addEndpoint(account);
  const body = { event_ids: events.map(({ id }) => id) };
  expect((await call(account, 'POST', '/v1/events/replay', { body })).status).toBe(202);
  expect(await rowsOf(account)).toHaveLength(2);
  expect(announced).toEqual([`deliveries ${account.accountUuid}`]);
});

test('senders are told of an endpoint that is enabled, and of no other change', async () => {
  const account = await newAccount();
  const endpoint = await addEndpoint(account, { status: 'disabled' });
  const path = `/v1/webhook_endpoints/${endpoint.id}`;
  const told = async (method: string, to: string, body?: object) => {
    expect((await call(account, method, to, body && { body })).status).toBe(200);
    return announced.splice(0);
  };
  const ofEndpoint = [`deliveries ${account.accountUuid}/${endpoint.uuid}`];
  expect(await told('PATCH', path, { description: 'Mine' })).toEqual([]);
  expect(await told('PATCH', path, { status: 'enabled' })).toEqual(ofEndpoint);
  expect(await told('PATCH', path, { status: 'disabled' })).toEqual([]);
  expect(await told('POST', `${path}/enable`)).toEqual(ofEndpoint);
});

describe('a retry', () => {
  test('makes a pending delivery due now and keeps its lease', async () => {
    const account = await newAccount();
    const [event, endpoint] = [await addEvent(account), await addEndpoint(account)];
    const delivery = await addDelivery(account, { event, endpoint, attempts: 1 });
    await write(
      `insert into endpoint_leases (endpoint_id, account_id, holder, fence, leased_until)
       values ($1, $2, gen_random_uuid(), 3, '2099-12-01')`,
      [endpoint.uuid, account.accountUuid],
    );
    const { status, json } = await call(account, 'POST', `/v1/deliveries/${delivery.id}/retry`);
    expect([status, json.id, json.status, json.attempts.length]).toEqual([202, delivery.id, 'pending', 1]);
    const [row] = await rowsOf(account);
    expect([row?.due, row?.leased_until]).toEqual([true, new Date('2099-12-01')]);
    expect(announced).toHaveLength(1);
  });

  test('never postpones a delivery that is already due', async () => {
    const account = await newAccount();
    const [event, endpoint] = [await addEvent(account), await addEndpoint(account)];
    const dueAt = new Date('2020-01-01T00:00:00Z');
    const delivery = await addDelivery(account, { event, endpoint, dueAt });
    const { json } = await call(account, 'POST', `/v1/deliveries/${delivery.id}/retry`);
    expect(json.next_attempt_at).toBe(dueAt.getTime() / 1000);
  });

  test.each(['failed', 'canceled'] as const)('queues a new delivery for a %s one', async (status) => {
    const account = await newAccount();
    const [event, endpoint] = [await addEvent(account), await addEndpoint(account, { types: ['bundle.*'] })];
    const old = await addDelivery(account, { event, endpoint, status, attempts: 3 });
    const before = (await call(account, 'GET', `/v1/deliveries/${old.id}`)).json;
    const reply = await call(account, 'POST', `/v1/deliveries/${old.id}/retry`);
    expect(reply.status).toBe(202);
    expect(reply.json).toMatchObject({
      event_id: event.id,
      webhook_endpoint_id: endpoint.id,
      origin: 'retry',
      status: 'pending',
      attempt_count: 0,
    });
    expect(reply.headers.get('location')).toBe(`/v1/deliveries/${reply.json.id}`);
    expect((await call(account, 'GET', `/v1/deliveries/${old.id}`)).json).toEqual(before);
    expect(await rowsOf(account)).toHaveLength(2);
  });

  test('is refused if the delivery succeeded, its endpoint is disabled or deleted, or its event is gone', async () => {
    const account = await newAccount();
    const [event, endpoint] = [await addEvent(account), await addEndpoint(account)];
    const disabled = await addEndpoint(account, { status: 'disabled' });
    const gone = { uuid: service.service.newUuid().toString('hex'), id: '' };
    const cases: [Ids, RegExp][] = [
      [await addDelivery(account, { event, endpoint, status: 'succeeded' }), /replay/],
      [await addDelivery(account, { event, endpoint: disabled, status: 'canceled' }), /disabled/],
      [await addDelivery(account, { event, endpoint: disabled, status: 'pending' }), /disabled/],
      [await addDelivery(account, { event, endpoint: gone, status: 'canceled' }), /deleted/],
      [await addDelivery(account, { event: gone, endpoint, status: 'failed' }), /no longer stored/],
    ];
    for (const [{ id }, message] of cases) {
      const reply = await call(account, 'POST', `/v1/deliveries/${id}/retry`);
      expect(errorOf(reply)).toEqual([409, 'state_conflict', undefined]);
      expect(reply.json.error.message).toMatch(message);
    }
    expect(await rowsOf(account)).toHaveLength(cases.length);
    expect(announced).toEqual([]);
  });
});

const segment = fc.constantFrom('a', 'b', 'a_1', 'esim');
const eventType = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('.'));
const subscription = fc.oneof(
  fc.constant('*'),
  eventType,
  eventType.map((name) => `${name}.*`),
);

/** Matches subscriptions with a regular expression, independently of the service. */
function matches(type: string, wanted: string): boolean {
  const pattern = wanted === '*' ? '.*' : wanted.replaceAll('.', '\\.').replace(/\*$/, '.+');
  return new RegExp(`^${pattern}$`).test(type);
}

test('an event satisfies exactly the subscriptions that match its type', () => {
  expect(subscriptionsOf('a.b.c').sort()).toEqual(['*', 'a.*', 'a.b.*', 'a.b.c']);
  fc.assert(
    fc.property(eventType, subscription, (type, wanted) => {
      expect(subscriptionsOf(type).includes(wanted)).toBe(matches(type, wanted));
    }),
    { numRuns: 2_000 },
  );
});

describe('a recovery', () => {
  const deps = () => ({ ...service.service, batchSize: 3 });

  async function openRecoveries({ accountUuid }: Account): Promise<number> {
    const { rows } = await service.db.pool.query<{ count: number }>(
      'select count(*)::int as count from recoveries where account_id = $1 and finished_at is null',
      [accountUuid],
    );
    return rows[0]?.count ?? 0;
  }

  /** Repeats like the chore, because the first batch waits for older transactions on the server. */
  async function finish(account: Account, run: () => Promise<unknown>): Promise<void> {
    await until(
      async () => {
        await run();
        return openRecoveries(account);
      },
      (open) => open === 0,
    );
  }

  const recover = (account: Account, endpoint: Ids, since: number) =>
    call(account, 'POST', `/v1/webhook_endpoints/${endpoint.id}/recover`, { body: { since } });

  const get = async (account: Account, id: string) => {
    const { status, json } = await call(account, 'GET', `/v1/recoveries/${id}`);
    expect(status).toBe(200);
    return json;
  };

  /** Fails before or after the commit of successive transactions as `moments` says, then stops failing. */
  function failing(db: Database, moments: ('before' | 'after' | 'never')[]): Database {
    const remaining = [...moments];
    return {
      ...db,
      async transaction(work) {
        const moment = remaining.shift();
        const result = await db.transaction(async (tx) => {
          const done = await work(tx);
          if (moment === 'before') throw new Error('killed before the commit');
          return done;
        });
        if (moment === 'after') throw new Error('killed after the commit');
        return result;
      },
    };
  }

  const prior = fc.record({
    type: eventType,
    statuses: fc.array(fc.constantFrom<Status>('pending', 'succeeded', 'failed', 'canceled'), {
      maxLength: 3,
    }),
    secondsAgo: fc.integer({ min: 0, max: 20 }),
  });
  const execution = fc.oneof(
    fc.constant({ kind: 'plain' as const }),
    fc.record({
      kind: fc.constant('killed' as const),
      moments: fc.array(fc.constantFrom<'before' | 'after' | 'never'>('before', 'after', 'never'), {
        maxLength: 8,
      }),
    }),
    fc.record({ kind: fc.constant('three at once' as const), recoveries: fc.integer({ min: 1, max: 3 }) }),
  );

  test('queues exactly the missed events, each once, even if killed or run by three processes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(prior, { maxLength: 20 }),
        fc.uniqueArray(subscription, { minLength: 1, maxLength: 3 }),
        execution,
        async (priors, types, how) => {
          const account = await newAccount();
          const [endpoint, other] = [await addEndpoint(account, { types }), await addEndpoint(account)];
          const nowSeconds = Math.floor(service.clock.nowMs() / 1000);
          const since = nowSeconds - 10;
          const expected: string[] = [];
          for (const { type, statuses, secondsAgo } of priors) {
            const event = await addEvent(account, { type, atMs: (nowSeconds - secondsAgo) * 1000 });
            for (const status of statuses) await addDelivery(account, { event, endpoint, status });
            await addDelivery(account, { event, endpoint: other, status: 'succeeded' });
            const isHandled = statuses.some((status) => status === 'succeeded' || status === 'pending');
            const isWanted = types.some((wanted) => matches(type, wanted));
            if (secondsAgo <= 10 && isWanted && !isHandled) expected.push(event.uuid);
          }
          const ids: string[] = [];
          for (let n = 0; n < (how.kind === 'three at once' ? how.recoveries : 1); n++) {
            ids.push((await recover(account, endpoint, since)).json.id);
          }
          if (how.kind === 'three at once') {
            const three = [1, 2, 3];
            await finish(account, () => Promise.all(three.map(() => runRecoveries(service.db, deps()))));
          } else {
            const db = how.kind === 'killed' ? failing(service.db, how.moments) : service.db;
            await finish(account, () => runRecoveries(db, deps()).catch(() => {}));
          }
          const queued = await rowsOf(account, 'recovery');
          expect(queued.map(({ event_id }) => event_id).sort()).toEqual(expected.sort());
          const shown = await Promise.all(ids.map((id) => get(account, id)));
          const inPeriod = priors.filter(({ secondsAgo }) => secondsAgo <= 10).length;
          expect(shown).toMatchObject(ids.map(() => ({ status: 'succeeded', checked_count: inPeriod })));
          expect(shown.reduce((sum, { queued_count }) => sum + queued_count, 0)).toBe(expected.length);
          for (const row of queued) {
            expect([row.endpoint_id, row.status, row.due]).toEqual([endpoint.uuid, 'pending', true]);
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test('is shown with its counts and progress, wakes a sender and returns how many deliveries it queued', async () => {
    const account = await newAccount();
    const endpoint = await addEndpoint(account);
    for (let n = 0; n < 7; n++) await addEvent(account);
    const { status, json, headers } = await recover(account, endpoint, 1_794_700_000);
    const requested = {
      id: expect.stringMatching(/^rec_/),
      object: 'recovery',
      webhook_endpoint_id: endpoint.id,
      status: 'queued',
      since: 1_794_700_000,
      until: null,
      types: null,
      progress_percent: 0,
      checked_count: 0,
      queued_count: 0,
      created: expect.any(Number),
      finished_at: null,
    };
    expect([status, json]).toEqual([202, requested]);
    expect(headers.get('location')).toBe(`/v1/recoveries/${json.id}`);
    expect(await get(account, json.id)).toEqual(json);
    await write('update recoveries set from_event = $2 where account_id = $1', [
      account.accountUuid,
      '0'.repeat(32),
    ]);
    let queued = 0;
    await finish(account, async () => {
      queued += await runRecoveries(service.db, deps());
    });
    expect(queued).toBe(7);
    expect(await get(account, json.id)).toMatchObject({
      id: json.id,
      status: 'succeeded',
      progress_percent: 100,
      checked_count: 7,
      queued_count: 7,
      finished_at: expect.any(Number),
    });
    // Once for the request, then once per batch.
    expect(announced).toEqual(Array.from({ length: 4 }, () => `deliveries ${account.accountUuid}`));
  });

  test('finds an event written before it that commits after it', async () => {
    const account = await newAccount();
    const endpoint = await addEndpoint(account);
    const event = eventAt(service.clock.nowMs());
    const late = await service.db.pool.connect();
    try {
      await late.query('begin');
      await late.query(insertEvent, [account.accountUuid, event.uuid.toString('hex'), 'esim.provisioned']);
      expect((await recover(account, endpoint, 0)).status).toBe(202);
      expect(await runRecoveries(service.db, deps())).toBe(0);
      expect(await openRecoveries(account)).toBe(1);
      await late.query('commit');
    } finally {
      late.release();
    }
    await finish(account, () => runRecoveries(service.db, deps()));
    const queued = await rowsOf(account, 'recovery');
    expect(queued.map(({ event_id }) => event_id)).toEqual([event.uuid.toString('hex')]);
  });

  test('of a long log does not delay a later recovery', async () => {
    const [long, short] = [await newAccount(), await newAccount()];
    const [longEndpoint, shortEndpoint] = [await addEndpoint(long), await addEndpoint(short)];
    await write(
      `insert into events (account_id, id, type, created_at, body)
       select $1, uuid_v7(now() - n * interval '1 second'), 'esim.provisioned', now(), '{}' from generate_series(1, 5000) n`,
      [long.accountUuid],
    );
    await addEvent(short);
    await recover(long, longEndpoint, 0);
    await until(
      () => runRecoveries(service.db, deps()),
      (queued) => queued > 0,
    );
    expect(await openRecoveries(long)).toBe(1);
    await recover(short, shortEndpoint, 0);
    await finish(short, () => runRecoveries(service.db, { ...deps(), batchSize: 1 }));
    expect(await openRecoveries(long)).toBe(1);
    await finish(long, () => runRecoveries(service.db, service.service));
    expect(await rowsOf(long, 'recovery')).toHaveLength(5000);
  });

  /** Each recovery of this account takes one batch of one event per event of the log. */
  async function addLog(account: Account): Promise<Ids> {
    for (let n = 0; n < 10; n++) await addEvent(account, { atMs: service.clock.nowMs() - n * 1_000 });
    return addEndpoint(account);
  }

  test('is not delayed by another account’s many recoveries', async () => {
    const [many, one] = [await newAccount(), await newAccount()];
    const [manyEndpoint, oneEndpoint] = [await addLog(many), await addLog(one)];
    await recover(one, oneEndpoint, 0); // first, so that it is ready no later than the others
    for (let n = 0; n < 30; n++) await recover(many, manyEndpoint, 0);
    await finish(one, () => runRecoveries(service.db, { ...deps(), batchSize: 1 }));
    // In the order of positions alone, nearly all of them would be finished by then.
    expect(await openRecoveries(many)).toBeGreaterThan(20);
    await finish(many, () => runRecoveries(service.db, service.service));
  });

  test('is not delayed by another account’s recovery that fails', async () => {
    const [broken, working] = [await newAccount(), await newAccount()];
    const [brokenEndpoint, workingEndpoint] = [await addLog(broken), await addLog(working)];
    await write(
      `update events set type = 'webhook_endpoint.failing', body = 'not JSON' where account_id = $1`,
      [broken.accountUuid],
    );
    await recover(broken, brokenEndpoint, 0);
    await recover(working, workingEndpoint, 0);
    const served = new Set<string>();
    await finish(working, () => runRecoveries(service.db, { ...deps(), served }).catch(() => {}));
    expect(await openRecoveries(broken)).toBe(1);
    await write(`update events set body = '{}' where account_id = $1`, [broken.accountUuid]);
    await finish(broken, () => runRecoveries(service.db, { ...deps(), served }));
  });

  test('shows how far it is while it runs', async () => {
    const account = await newAccount();
    const endpoint = await addEndpoint(account);
    const nowMs = service.clock.nowMs();
    for (let n = 0; n < 10; n++) await addEvent(account, { atMs: nowMs - n * 10_000 });
    const { id } = (await recover(account, endpoint, Math.floor(nowMs / 1000) - 100)).json;
    // Each process is killed after one batch of three events.
    const halfway = await until(
      async () => {
        await runRecoveries(failing(service.db, ['never', 'before']), deps()).catch(() => {});
        return get(account, id);
      },
      ({ checked_count }) => checked_count > 0,
    );
    expect(halfway).toMatchObject({
      status: 'running',
      checked_count: 3,
      queued_count: 3,
      finished_at: null,
    });
    expect(halfway.progress_percent).toBeGreaterThanOrEqual(15);
    expect(halfway.progress_percent).toBeLessThan(60);
    await finish(account, () => runRecoveries(service.db, deps()));
    expect(await get(account, id)).toMatchObject({
      status: 'succeeded',
      checked_count: 10,
      queued_count: 10,
    });
  });

  test('is listed with those of its endpoint, newest first, and seen by its account only', async () => {
    const [account, stranger] = [await newAccount(), await newAccount()];
    const [endpoint, other] = [await addEndpoint(account), await addEndpoint(account)];
    const ids: string[] = [];
    for (let n = 0; n < 3; n++) ids.unshift((await recover(account, endpoint, n)).json.id);
    await recover(account, other, 0);
    const path = `/v1/webhook_endpoints/${endpoint.id}/recoveries`;
    const first = (await call(account, 'GET', `${path}?limit=2`)).json;
    const second = (await call(account, 'GET', `${path}?starting_after=${first.next_cursor}`)).json;
    expect([...first.data, ...second.data].map(({ id }: { id: string }) => id)).toEqual(ids);
    expect([first.has_more, second.has_more]).toEqual([true, false]);
    const elsewhere = `/v1/webhook_endpoints/${other.id}/recoveries?starting_after=${first.next_cursor}`;
    expect(errorOf(await call(account, 'GET', elsewhere))).toEqual([400, 'cursor_invalid', 'starting_after']);
    for (const reply of [
      await call(stranger, 'GET', path),
      await call(stranger, 'GET', `/v1/recoveries/${ids[0]}`),
      await call(account, 'GET', '/v1/recoveries/rec_1'),
    ]) {
      expect(errorOf(reply)).toEqual([404, 'resource_missing', 'id']);
    }
  });

  test('is refused for a disabled endpoint', async () => {
    const account = await newAccount();
    const endpoint = await addEndpoint(account, { status: 'disabled' });
    expect(errorOf(await recover(account, endpoint, 0))).toEqual([409, 'state_conflict', undefined]);
    expect(await openRecoveries(account)).toBe(0);
  });

  test.each([
    ['disabled', `update webhook_endpoints set status = 'disabled' where account_id = $1`],
    ['deleted', 'delete from webhook_endpoints where account_id = $1'],
  ])('ends without another delivery if the endpoint is %s meanwhile', async (_, change) => {
    const account = await newAccount();
    const endpoint = await addEndpoint(account);
    await addEvent(account);
    const { id } = (await recover(account, endpoint, 0)).json;
    await write(change, [account.accountUuid]);
    await finish(account, () => runRecoveries(service.db, deps()));
    expect(await get(account, id)).toMatchObject({
      status: 'canceled',
      queued_count: 0,
      finished_at: expect.any(Number),
    });
    expect(await rowsOf(account)).toEqual([]);
  });
});

describe('the example receiver', () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
  let receiver: ChildProcess;
  let output = '';
  let url = '';

  beforeEach(async () => {
    const program = join(root, 'examples/webhook-receiver/receiver.mjs');
    output = '';
    receiver = spawn(process.execPath, [program], { env: { WEBHOOK_SECRET: secret, PORT: '0' } });
    receiver.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    const [, address = ''] = await until(
      async () => /listening at (\S+)\n/.exec(output) ?? [],
      (found) => found.length > 0,
    );
    url = address;
  });
  afterEach(() => {
    receiver.kill();
  });

  function deliver(
    body: string,
    { sent = body, atSeconds = Math.floor(Date.now() / 1000), key = secret } = {},
  ) {
    const signature = createHmac('sha256', key).update(`${atSeconds}.${body}`).digest('hex');
    const headers = { 'Service-Signature': `t=${atSeconds},v1=${signature}` };
    return fetch(url, { method: 'POST', body: sent, headers }).then(({ status }) => status);
  }

  const event = (id: string) => JSON.stringify({ id, type: 'esim.provisioned', data: { city: 'Zürich' } });

  test('accepts an event once, and rejects tampered, stale, future and unsigned ones', async () => {
    const nowSeconds = Math.floor(Date.now() / 1000);
    expect(await deliver(event('evt_tampered'), { sent: event('evt_tampereD') })).toBe(400);
    expect(await deliver(event('evt_stale'), { atSeconds: nowSeconds - 400 })).toBe(400);
    expect(await deliver(event('evt_future'), { atSeconds: nowSeconds + 400 })).toBe(400);
    expect(await deliver(event('evt_other'), { key: `${secret}x` })).toBe(400);
    expect((await fetch(url, { method: 'POST', body: event('evt_unsigned') })).status).toBe(400);
    expect(await deliver(event('evt_good'))).toBe(200);
    expect(await deliver(event('evt_good'), { atSeconds: nowSeconds - 60 })).toBe(200);
    expect(await deliver(event('evt_last'))).toBe(200);
    await until(
      async () => output,
      (text) => text.includes('evt_last'),
    );
    expect(output.trim().split('\n').slice(1)).toEqual([
      'evt_good esim.provisioned {"city":"Zürich"}',
      'evt_last esim.provisioned {"city":"Zürich"}',
    ]);
  });
});
