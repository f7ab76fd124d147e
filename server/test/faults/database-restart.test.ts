import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allDeliveries } from '../support/all-deliveries.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type RestartablePostgres, startRestartablePostgres } from '../support/restartable-postgres.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_database_restart';

let postgres: RestartablePostgres;
let receiver: Receiver;
let servers: ServerProcess[] = [];
/** Exit status and last output of servers that exited on their own. */
const unexpectedExits: string[] = [];

beforeAll(async () => {
  [postgres, receiver] = await Promise.all([startRestartablePostgres(), startReceiver()]);
  const env = {
    DATABASE_URL: postgres.url,
    SIMPLANE_API_KEY: key,
    SIMPLANE_ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
    SIMPLANE_MOCK_DELAY: '20ms',
    // Short, so work in progress when the database goes away is soon taken over.
    SIMPLANE_NETWORK_TIMEOUT: '1s',
    SIMPLANE_EXECUTION_LEASE: '3s',
    SIMPLANE_WEBHOOK_TIMEOUT: '2s',
  };
  servers = await Promise.all([spawnServer(env), spawnServer(env)]);
  for (const { ended, output } of servers) {
    ended.then(
      (how) => unexpectedExits.push(`${how}: ${output().slice(-2_000)}`),
      () => unexpectedExits.push('lost'),
    );
  }
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end('SIGKILL')));
  await receiver.stop();
  await postgres.remove();
});

function target(index: number) {
  return { url: servers[index % servers.length]?.url as string, key };
}

async function readiness(): Promise<number[]> {
  expect(unexpectedExits).toEqual([]);
  return Promise.all(servers.map(async (_, i) => (await call(target(i), 'GET', '/readyz')).status));
}

async function query<Row extends object>(text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: postgres.directUrl() });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

type Load = {
  accepted: string[];
  retried: number;
  unexpected: string[];
  keys: string[];
  stop(): Promise<void>;
};

/** Clients that order nonstop and retry any failure with the same key on the other server. */
function startLoad(clients: number): Load {
  const load: Load = { accepted: [], retried: 0, unexpected: [], keys: [], stop: async () => {} };
  let stopped = false;

  async function order(first: number): Promise<void> {
    const idempotencyKey = randomUUID();
    load.keys.push(idempotencyKey);
    for (let attempt = first; ; attempt++) {
      const reply: Reply | null = await provision(target(attempt), idempotencyKey).catch(() => null);
      if (reply?.status === 202) {
        load.accepted.push(reply.json.id);
        return;
      }
      const code = reply?.json?.error?.code;
      if (reply && reply.status !== 503 && code !== 'idempotency_in_progress') {
        load.unexpected.push(`${reply.status} ${reply.text}`);
        return;
      }
      load.retried += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  const running = Array.from({ length: clients }, async (_, i) => {
    while (!stopped) await order(i);
  });
  load.stop = async () => {
    stopped = true;
    await Promise.all(running);
  };
  return load;
}

test('every order accepted while PostgreSQL restarts, crashes and loses connections becomes one eSIM and one delivered event', async () => {
  const hook = { url: `${receiver.url}/hook`, enabled_event_types: ['esim.*'] };
  expect((await call(target(0), 'POST', '/v1/webhook_endpoints', { body: hook })).status).toBe(201);
  const load = startLoad(8);
  /** Waits for `count` more. A failure ends the wait; the assertions below report it. */
  const waitForMore = (list: unknown[], count: number) => {
    const goal = list.length + count;
    const length = async () => list.length;
    return until(length, (seen) => seen >= goal || load.unexpected.length > 0 || unexpectedExits.length > 0);
  };
  const progress = async (orders: number) => {
    await waitForMore(load.accepted, orders);
    await waitForMore(receiver.received, 20);
  };

  await progress(40);
  for (const how of ['fast', 'immediate'] as const) {
    const retriedBefore = load.retried;
    await postgres.stop(how);
    expect(await until(readiness, ([one, two]) => one === 503 && two === 503)).toEqual([503, 503]);
    await postgres.start();
    await progress(40);
    expect(load.retried).toBeGreaterThan(retriedBefore);
    for (let i = 0; i < 3; i++) {
      expect(postgres.dropConnections()).toBeGreaterThan(2);
      await progress(15);
    }
  }
  await load.stop();
  expect(load.unexpected).toEqual([]);
  expect(unexpectedExits).toEqual([]);
  expect(new Set(load.accepted).size).toBe(load.keys.length);
  expect(await until(readiness, ([one, two]) => one === 200 && two === 200)).toEqual([200, 200]);

  const executions = () =>
    query<{ status: string; count: number }>(
      'select status, count(*)::int as count from executions group by status',
    );
  await until(
    () => query('select from execution_queue'),
    (open) => open.length === 0,
  );
  expect(await executions()).toEqual([{ status: 'succeeded', count: load.keys.length }]);
  const [esims] = await query(
    'select count(*)::int as count, count(distinct execution_id)::int as executions from esims',
  );
  expect(esims).toEqual({ count: load.keys.length, executions: load.keys.length });
  const events = await query<{ id: string; execution_id: string }>(
    `select body::jsonb ->> 'id' as id, body::jsonb -> 'data' ->> 'execution_id' as execution_id
     from events where type = 'esim.provisioned'`,
  );
  expect(events.map(({ execution_id }) => execution_id).sort()).toEqual([...load.accepted].sort());

  const deliveries = () =>
    query<{ status: string; count: number }>(
      `select status, count(*)::int as count from ${allDeliveries} d group by status`,
    );
  await until(deliveries, (rows) => rows.every(({ status }) => status !== 'pending'));
  expect(await deliveries()).toEqual([{ status: 'succeeded', count: load.keys.length }]);
  const arrived = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
  expect(events.filter(({ id }) => !arrived.has(id))).toEqual([]);
  expect(arrived.size).toBe(events.length);

  // Both servers listen for signals again, and do new work.
  await until(
    () => query("select pid from pg_stat_activity where application_name like 'simplane% signals'"),
    (rows) => rows.length === servers.length,
  );
  for (const index of servers.keys()) {
    const accepted = await provision(target(index), randomUUID());
    expect(accepted.status).toBe(202);
    await until(
      async () => receiver.received.some(({ body }) => body.includes(accepted.json.id)),
      (hasArrived) => hasArrived,
    );
  }
  expect(unexpectedExits).toEqual([]);
  expect(await Promise.all(servers.map((server) => server.end('SIGTERM')))).toEqual([0, 0]);
});
