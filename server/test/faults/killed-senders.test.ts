import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { idPrefixes } from '@simplane/contract';
import { describe, expect, type TestContext, test } from 'vitest';
import { idOfUuid, uuidOfId, uuidText } from '../../src/platform/ids/uuid.ts';
import { createKeyring } from '../../src/platform/secrets/keyring.ts';
import { allAttempts, allDeliveries } from '../support/all-deliveries.ts';
import { call } from '../support/client.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

const preload = fileURLToPath(new URL('../support/die-at-statement.mjs', import.meta.url));
// Senders that are killed have a short timeout, so that their leases end soon. The others have a long one, so that a busy
// machine does not time out a good attempt: it would be retried, and both could be in flight at once.
const timeoutMs = { killed: 5_000, other: 60_000 };

type Setup = {
  service: TestService;
  receiver: Receiver;
  /** Starts a worker process; `DIE_AT` names the statement around which it kills itself. */
  sender(more?: Record<string, string>): Promise<ServerProcess>;
};

/** A database, an API that never sends, and a receiver; senders run as separate processes. */
async function setUp({ onTestFinished }: TestContext): Promise<Setup> {
  const encryptionKey = randomBytes(32);
  const service = await startService({ keyring: createKeyring([encryptionKey]) });
  const receiver = await startReceiver();
  const senders: ServerProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(senders.map((each) => each.end('SIGKILL')));
    await receiver.stop();
    await service.stop();
  });
  return {
    service,
    receiver,
    async sender(more = {}) {
      const env = {
        DATABASE_URL: service.databaseUrl,
        SIMPLANE_ROLE: 'worker',
        SIMPLANE_API_KEY: 'sp_test_killed_senders_sandbox',
        SIMPLANE_ENCRYPTION_KEYS: encryptionKey.toString('base64'),
        SIMPLANE_WEBHOOK_TIMEOUT: `${more['DIE_AT'] === undefined ? timeoutMs.other : timeoutMs.killed}ms`,
        ...more,
      };
      const started = await spawnServer(env, more['DIE_AT'] === undefined ? {} : { preload });
      senders.push(started);
      return started;
    },
  };
}

async function createEndpoint({ service, receiver }: Setup, path: string, types = ['order.*']) {
  const body = { url: receiver.url + path, enabled_event_types: types };
  const { status, json } = await call(service, 'POST', '/v1/webhook_endpoints', { body });
  expect(status).toBe(201);
  return json.id as string;
}

/** Twenty at a time, so senders run while events still come in. */
async function publish({ service }: Setup, count: number, type = 'order.made'): Promise<string[]> {
  const ids: string[] = [];
  while (ids.length < count) {
    const size = Math.min(20, count - ids.length);
    const replies = await Promise.all(
      Array.from({ length: size }, () =>
        call(service, 'POST', '/v1/events/test', { body: { type, data: {} } }),
      ),
    );
    for (const { status, json } of replies) {
      expect(status).toBe(202);
      ids.push(json.id);
    }
  }
  return ids;
}

/** Copies an event, without a request and its work for each: many are wanted, and only one needs to have happened. */
async function copyEvent({ service }: Setup, eventId: string, count: number): Promise<string[]> {
  const uuids = Array.from({ length: count }, () => uuidText(service.service.newUuid()));
  const ids = uuids.map((uuid) => idOfUuid(idPrefixes.event, uuid));
  await service.db.pool.query(
    `insert into events (account_id, id, type, created_at, body)
     select account_id, copy.uuid, type, created_at, replace(body, $2, copy.id)
     from events cross join unnest($3::uuid[], $4::text[]) as copy (uuid, id)
     where events.id = $1`,
    [uuidOfId(idPrefixes.event, eventId), eventId, uuids, ids],
  );
  return ids;
}

type Row = {
  /** Event and endpoint, as `<event id> <path>`. */
  name: string;
  status: string;
  origin: string;
  attempt_count: number;
  leased_until: Date | null;
  is_due: boolean;
  attempts: { number: number; status_code: number | null; error: string | null; at: Date }[];
};

async function deliveries({ service }: Setup): Promise<Row[]> {
  const { rows } = await service.db.pool.query(
    `select d.event_id, e.url, d.status, d.origin, d.attempt_count, d.leased_until, d.due_at <= now() as is_due,
            coalesce((select json_agg(json_build_object('number', a.number, 'status_code', a.status_code, 'error', a.error,
                                                        'at', extract(epoch from a.at) * 1000) order by a.number)
                      from ${allAttempts} a where a.account_id = d.account_id and a.delivery_id = d.id), '[]') as attempts
     from ${allDeliveries} d join webhook_endpoints e on e.account_id = d.account_id and e.id = d.endpoint_id`,
  );
  return rows.map(({ event_id, url, attempts, ...row }) => ({
    name: `${idOfUuid(idPrefixes.event, event_id)} ${new URL(url).pathname}`,
    ...row,
    attempts: attempts.map((one: { at: number }) => ({ ...one, at: new Date(one.at) })),
  }));
}

function allSettled(setup: Setup, withinMs?: number): Promise<Row[]> {
  const count = async () => {
    const { rows } = await setup.service.db.pool.query(`select count(*)::int as count from delivery_queue`);
    return rows[0].count as number;
  };
  return until(count, (pending) => pending === 0, withinMs).then(() => deliveries(setup));
}

/** How often each delivery was received, by `<event id> <path>`. */
function receipts({ receiver }: Setup, from = 0): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { headers, path } of receiver.received.slice(from)) {
    const name = `${headers['webhook-id']} ${path}`;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return counts;
}

function namesOf(eventIds: string[], paths: string[]): string[] {
  return eventIds.flatMap((id) => paths.map((path) => `${id} ${path}`)).sort();
}

const oneGoodAttempt = [expect.objectContaining({ number: 1, status_code: 200, error: null })];

// Five run concurrently and each waits out a lease; the timeout only catches a hang.
describe.concurrent('a sender killed', { timeout: 900_000 }, () => {
  type Counts = { answered: number; logged: number; received: number };

  test.for<[string, string, (counts: Counts) => boolean]>([
    ['after the claim, before the request', 'delivery_claim:after:1', ({ received }) => received === 0],
    ['while the request is in flight', '', ({ received, logged }) => received > 0 && logged === 0],
    [
      'after the answer, before the result is stored',
      'delivery_settle:before:1',
      ({ answered, logged }) => answered > 0 && logged === 0,
    ],
    [
      'after the result is stored, before it gets the reply',
      'delivery_settle:after:1',
      ({ answered, logged }) => answered > 0 && logged > 0,
    ],
  ])(
    '%s: another sender delivers every event to every subscriber, and takes over leased ones only when the dead one’s beat is old',
    async ([, dieAt, isExpectedMoment], context) => {
      const setup = await setUp(context);
      const { receiver } = setup;
      const paths = ['/one', '/two', '/three'];
      for (const path of paths) await createEndpoint(setup, path);
      await createEndpoint(setup, '/other', ['esim.*']);
      const doomed = await setup.sender({ DIE_AT: dieAt });
      let answered = 0;
      receiver.answer((response) => {
        if (dieAt === '') {
          if (receiver.received.length === 1) process.kill(doomed.pid, 'SIGKILL');
          return; // never answers
        }
        answered += 1;
        response.end('ok');
      });
      const eventIds = await publish(setup, 20);
      expect(await doomed.ended).toBe('SIGKILL');

      const atDeath = await deliveries(setup);
      const logged = atDeath.filter(({ attempts }) => attempts.length > 0).length;
      expect({ answered, logged, received: receiver.received.length }).toSatisfy(isExpectedMoment);
      const leases = new Map(atDeath.map(({ name, leased_until }) => [name, leased_until]));
      const { rows: workers } = await setup.service.db.pool.query<{ beat_at: Date }>(
        'select beat_at from workers',
      );
      const beatAtMs = workers[0]?.beat_at.getTime() ?? Number.NaN;
      const leased = atDeath.filter(({ leased_until }) => leased_until !== null);
      if (!dieAt.includes('settle:after')) expect(leased.length).toBeGreaterThan(0);

      receiver.answer((response) => response.end('ok'));
      const successor = await setup.sender();
      const settled = await allSettled(setup);
      expect(await successor.end('SIGTERM')).toBe(0);

      expect(settled.map(({ name }) => name).sort()).toEqual(namesOf(eventIds, paths));
      const counts = receipts(setup);
      expect([...counts.keys()].sort()).toEqual(namesOf(eventIds, paths));
      for (const { name, ...delivery } of settled) {
        // The interrupted attempt has no result, so it is not logged.
        expect(delivery.attempts).toEqual(oneGoodAttempt);
        expect(delivery).toMatchObject({ status: 'succeeded', attempt_count: 1, leased_until: null });
        const lease = leases.get(name) ?? null;
        if (lease === null) expect(counts.get(name)).toBe(1);
        else expect(delivery.attempts[0]?.at.getTime()).toBeGreaterThanOrEqual(beatAtMs + 4_000);
      }
      // Only a delivery that the dead sender had leased may arrive twice.
      const twice = [...counts].filter(([, count]) => count > 1).map(([name]) => name);
      expect(twice.filter((name) => !leases.get(name))).toEqual([]);
      if (dieAt.includes('claim:after')) expect(twice).toEqual([]);
      if (dieAt.includes('settle:before')) expect(twice.length).toBeGreaterThan(0);
    },
  );

  test('twice during a recovery: exactly the missed events arrive, each queued once', async (context) => {
    const setup = await setUp(context);
    const { service, receiver } = setup;
    const endpointId = await createEndpoint(setup, '/hook');
    const at = `/v1/webhook_endpoints/${endpointId}`;
    const first = await setup.sender();
    await publish(setup, 20);
    await allSettled(setup);
    expect(await first.end('SIGTERM')).toBe(0);
    expect((await call(service, 'PATCH', at, { body: { status: 'disabled' } })).status).toBe(200);
    // A recovery handles 500 events per step; this one takes three.
    const missed = await publish(setup, 20);
    missed.push(...(await copyEvent(setup, missed[0] as string, 1_000)));
    await publish(setup, 20, 'other.kind');
    expect((await call(service, 'POST', `${at}/enable`)).status).toBe(200);
    const later = await publish(setup, 20);
    const knownBefore = receiver.received.length;
    const since = Math.floor(Date.now() / 1000) - 3_600;
    const { json: recovery } = await call(service, 'POST', `${at}/recover`, { body: { since } });
    const shown = async () => (await call(service, 'GET', `/v1/recoveries/${recovery.id}`)).json;

    const recovered = async () => {
      const { rows } = await service.db.pool.query(
        `select count(*)::int as count from ${allDeliveries} d where origin = 'recovery'`,
      );
      return rows[0].count as number;
    };
    // The first dies with its second step uncommitted, the next with that step committed and the third begun.
    const one = await setup.sender({ DIE_AT: 'recovery_move:before:2' });
    expect(await one.ended).toBe('SIGKILL');
    expect(await recovered()).toBeGreaterThan(0);
    expect(await recovered()).toBeLessThan(missed.length);
    expect(await shown()).toMatchObject({ status: 'running', queued_count: await recovered() });
    const two = await setup.sender({ DIE_AT: 'recovery_insert_missed:before:2' });
    expect(await two.ended).toBe('SIGKILL');
    expect(await recovered()).toBeLessThan(missed.length);
    const successor = await setup.sender();
    await until(recovered, (count) => count >= missed.length);
    const settled = await allSettled(setup);
    expect(await successor.end('SIGTERM')).toBe(0);

    expect([...receipts(setup, knownBefore).keys()].sort()).toEqual(
      namesOf([...missed, ...later], ['/hook']),
    );
    const queued = settled.filter(({ origin }) => origin === 'recovery');
    expect(queued.map(({ name }) => name).sort()).toEqual(namesOf(missed, ['/hook']));
    expect(settled.filter(({ status }) => status !== 'succeeded')).toEqual([]);
    const checked = 20 + missed.length + 20 + later.length;
    expect(await shown()).toMatchObject({
      status: 'succeeded',
      progress_percent: 100,
      checked_count: checked,
      queued_count: missed.length,
    });
  });
});

// On a machine that is too busy for a beat in four seconds, another sender takes over, and what was being sent comes twice.
const lostItsBeat = /no beat of this worker|has stopped without giving back its work/;

describe('concurrent senders', () => {
  test.for([4])(
    'in %i processes deliver every event, and never the same delivery twice at a time',
    async (processes, context) => {
      const setup = await setUp(context);
      const { receiver } = setup;
      const paths = ['/one', '/two', '/three'];
      for (const path of paths) await createEndpoint(setup, path);
      const inFlight = new Set<string>();
      const overlaps: string[] = [];
      receiver.answer((response, { headers, path }) => {
        const name = `${headers['webhook-id']} ${path}`;
        if (inFlight.has(name)) overlaps.push(name);
        inFlight.add(name);
        setTimeout(() => {
          inFlight.delete(name);
          response.end('ok');
        }, 20);
      });
      const senders = await Promise.all(Array.from({ length: processes }, () => setup.sender()));
      const eventIds = await publish(setup, 60);
      const settled = await allSettled(setup);
      expect(await Promise.all(senders.map((each) => each.end('SIGTERM')))).toEqual(Array(processes).fill(0));

      const wanted = namesOf(eventIds, paths);
      const counts = receipts(setup);
      expect([...counts.keys()].sort()).toEqual(wanted);
      expect(settled.map(({ name, status }) => `${name} ${status}`).sort()).toEqual(
        wanted.map((name) => `${name} succeeded`),
      );
      if (senders.some((each) => lostItsBeat.test(each.output()))) return;
      expect(overlaps).toEqual([]);
      expect([...counts].filter(([, count]) => count !== 1)).toEqual([]);
      for (const { attempt_count, attempts } of settled) {
        expect(attempt_count).toBe(1);
        expect(attempts).toEqual(oneGoodAttempt);
      }
      // The logs match the deliveries, and each endpoint had one sender, because its lease never expired.
      const logged = senders.flatMap((each, index) =>
        [...each.output().matchAll(/"webhook_endpoint_id":"(\w+)".*"msg":"delivery"/g)].map(
          ([, id]) => `${id} ${index}`,
        ),
      );
      expect(logged).toHaveLength(wanted.length);
      expect(new Set(logged).size).toBe(paths.length);
    },
  );
});

test('a sender stopped while a receiver hangs releases its claim, and another sender delivers at once', async (context) => {
  const setup = await setUp(context);
  const { receiver, service } = setup;
  await createEndpoint(setup, '/hook');
  receiver.answer(() => {});
  const stopping = await setup.sender({ SIMPLANE_SHUTDOWN_TIMEOUT: '200ms' });
  const [eventId] = await publish(setup, 1);
  await until(
    async () => receiver.received.length,
    (count) => count > 0,
  );
  expect(await deliveries(setup)).toMatchObject([{ leased_until: expect.any(Date) }]);
  expect(await stopping.end('SIGTERM')).toBe(0);
  const released = { status: 'pending', attempt_count: 0, leased_until: null, is_due: true, attempts: [] };
  expect(await deliveries(setup)).toMatchObject([released]);
  const { rows } = await service.db.pool.query('select failing_since, failure_count from webhook_endpoints');
  expect(rows).toEqual([{ failing_since: null, failure_count: 0 }]);

  receiver.answer((response) => response.end('ok'));
  const successor = await setup.sender();
  // Unreleased, the lease would have lasted another minute.
  const [delivery] = await allSettled(setup, 40_000);
  expect(delivery).toMatchObject({ name: `${eventId} /hook`, status: 'succeeded', attempt_count: 1 });
  expect(delivery?.attempts).toEqual(oneGoodAttempt);
  expect(await successor.end('SIGTERM')).toBe(0);
});
