import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Link, openLink } from '../../../faults/src/deployment/link.ts';
import {
  type ReplicatedPostgres,
  startReplicatedPostgres,
} from '../../../faults/src/deployment/replicated-postgres.ts';
import { seedSandbox } from '../../src/accounts/products/sandbox-catalog.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { createSignals } from '../../src/platform/db/signals.ts';
import { call, provision, type Reply } from '../support/client.ts';
import { runCommand } from '../support/process.ts';
import { sequenceEvents } from '../support/sequence-events.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let postgres: ReplicatedPostgres;
const cleanups: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  postgres = await startReplicatedPostgres({ max_connections: '60' });
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
// Not after each: to build a standby costs as much as a test.
beforeEach(async () => {
  if (postgres.formerPrimary() || !postgres.standby().isRunning()) await postgres.rejoin();
});
afterAll(() => postgres.remove());

/** One address that always leads to the primary; open connections stay on their server. */
async function linkToPrimary(): Promise<Link> {
  const link = await openLink(postgres.primary().url('simplane'), () => postgres.primary().socketPath());
  cleanups.push(() => link.close());
  return link;
}

/** Both servers in one URL, the standby first. */
async function linkToBoth() {
  const [standby, primary] = [postgres.standby(), postgres.primary()];
  const account = primary.url('simplane');
  const links = await Promise.all([
    openLink(account, standby.socketPath),
    openLink(account, primary.socketPath),
  ]);
  cleanups.push(...links.map((link) => link.close));
  const [first, second] = links.map(({ url }) => new URL(url));
  const url = `${first?.href.replace(first.host, `${first.host},${second?.host}`)}&target_session_attrs=read-write`;
  return { url, primary: links[1] as Link };
}

async function startOn(databaseUrl: string): Promise<TestService> {
  await migrate(databaseUrl);
  const service = await startService({ databaseUrl });
  cleanups.push(service.stop);
  await seedSandbox(service.db, service.clock);
  return service;
}

/** Clients that order nonstop, retrying each order with the same key until it is accepted. */
function startOrders(service: TestService, clients: number) {
  const seen = { accepted: 0, unavailable: 0, unexpected: [] as string[] };
  let isStopped = false;
  const running = Array.from({ length: clients }, async () => {
    while (!isStopped) {
      const key = randomUUID();
      for (;;) {
        const { status, json, text }: Reply = await provision(service, key);
        if (status === 202) {
          seen.accepted += 1;
          await sleep(20); // orders are under way at any moment, and the cores are left to the switchover
          break;
        }
        if (status === 503) {
          seen.unavailable += 1;
          await sleep(10); // as a client would; without it, 16 of them kept a core busy until the new primary was there
        } else if (json.error.code !== 'idempotency_in_progress') {
          seen.unexpected.push(text);
          return;
        }
      }
    }
  });
  return {
    seen,
    async stop() {
      isStopped = true;
      await Promise.all(running);
    },
  };
}

async function countOrders(since: Date): Promise<number> {
  const [row] = await postgres.primary().query<{ count: number }>(
    'simplane',
    `select count(*)::int as count
       from (select created_at from executions union all select created_at from execution_queue) orders
       where created_at > $1`,
    [since],
  );
  return row?.count ?? 0;
}

const clients = 16;

/** Orders before, during and after a database fault, some of each client; each accepted order is stored once. */
async function orderThrough(url: string, causeFault: (service: TestService) => Promise<unknown>) {
  const service = await startOn(url);
  const startedAt = new Date();
  const { seen, stop } = startOrders(service, clients);
  const waitForMore = (count: number) => {
    const goal = seen.accepted + count;
    return until(
      async () => seen.accepted,
      (accepted) => accepted >= goal || seen.unexpected.length > 0,
    );
  };
  await waitForMore(5 * clients);
  await causeFault(service);
  await waitForMore(10 * clients);
  await stop();
  expect(seen.unexpected).toEqual([]);
  expect(await countOrders(startedAt)).toBe(seen.accepted);
  expect((await call(service, 'GET', '/readyz')).status).toBe(200);
  return seen;
}

// Measured: 6 to 11, the requests in flight from 16 clients; 5,777 when read-only connections returned to the pool.
const maxUnavailable = 200;

test('after a switchover behind one address, connections to the old primary are dropped at once', async () => {
  const { unavailable } = await orderThrough((await linkToPrimary()).url, postgres.switchOver);
  expect(unavailable).toBeLessThan(maxUnavailable);
});

test('after a switchover between several hosts, the host that takes writes is found at once', async () => {
  const { unavailable } = await orderThrough((await linkToBoth()).url, postgres.switchOver);
  expect(unavailable).toBeLessThan(maxUnavailable);
});

test('after the primary dies, the hosts are tried until one takes writes', async () => {
  const { url } = await linkToBoth();
  await orderThrough(url, async (service) => {
    await postgres.stopPrimary('kill');
    await until(
      async () => (await call(service, 'GET', '/readyz')).status,
      (status) => status === 503,
    );
    await postgres.promote();
  });
});

test('a primary that no longer answers is given up before its statements time out', async () => {
  const { url, primary } = await linkToBoth();
  const service = await startOn(url);
  expect((await provision(service)).status).toBe(202);
  primary.hold();
  const startedAtMs = performance.now();
  const key = randomUUID();
  expect((await provision(service, key)).json.error.code).toBe('unavailable');
  // 5 to 6 s on an idle machine: two checks of 2 s each must fail. The statement timeout is 15 s.
  expect(performance.now() - startedAtMs).toBeLessThan(14_000);
  await postgres.switchOver();
  await until(
    async () => (await provision(service, key)).status,
    (status) => status === 202,
  );
});

test('doctor reports the role of each host', async () => {
  const { url } = await linkToBoth();
  const { stdout } = await runCommand(['doctor', '--json'], {
    DATABASE_URL: url.replace('/simplane?', ',127.0.0.1:1/simplane?'),
  });
  const findings = JSON.parse(stdout) as { check: string; verdict: string; says: string }[];
  expect(findings.filter(({ check }) => check === 'host')).toEqual([
    { check: 'host', verdict: 'ok', says: expect.stringMatching(/: standby, PostgreSQL \d+/) },
    { check: 'host', verdict: 'ok', says: expect.stringMatching(/: accepts writes, PostgreSQL \d+/) },
    { check: 'host', verdict: 'warning', says: expect.stringContaining('127.0.0.1:1 cannot be reached') },
  ]);
});

test('an idle process is not ready while its server is read-only, and ready again on the new primary', async () => {
  const service = await startOn((await linkToPrimary()).url);
  const ready = async () => (await call(service, 'GET', '/readyz')).status;
  const pids = async () => {
    const named = `select pid from pg_stat_activity where application_name ~ '^simplane/[0-9]+$'`;
    return (await postgres.primary().query<{ pid: number }>('simplane', named)).map(({ pid }) => pid);
  };
  expect(await ready()).toBe(200);
  await Promise.all(
    Array.from({ length: 4 }, () => service.db.query({ name: 'test_sleep', text: 'select pg_sleep(0.5)' })),
  );
  const before = await pids();
  expect(before.length).toBeGreaterThan(1);
  await postgres.primary().query('postgres', 'alter system set default_transaction_read_only = on');
  await postgres.primary().query('postgres', 'select pg_reload_conf()');
  await until(ready, (status) => status === 503);
  // One connection noticed; the others go to the same server, so they are closed too.
  await until(pids, (left) => !left.some((pid) => before.includes(pid)));
  expect((await provision(service)).json.error.code).toBe('unavailable');
  expect((await call(service, 'GET', '/livez')).status).toBe(200);
  await postgres.switchOver();
  await until(ready, (status) => status === 200);
  expect((await provision(service)).status).toBe(202);
});

test('a signal listener notices that its server is no longer the primary, and listens on the new one', async () => {
  const service = await startOn((await linkToPrimary()).url);
  const heard: (string | undefined)[] = [];
  const signals = createSignals({
    db: service.db,
    connectionString: service.databaseUrl,
    onError: () => {},
  });
  cleanups.push(signals.stop);
  signals.on('executions', (subject) => heard.push(subject));
  const notify = async () => {
    await postgres.primary().query('simplane', `select pg_notify('simplane', 'executions ${heard.length}')`);
    return heard.length;
  };
  await until(notify, (count) => count > 0);
  await postgres.switchOver();
  const before = heard.length;
  await until(notify, (count) => count > before);
});

test('a process that is still connected to the old primary does not take new places in the feed for expired ones', async () => {
  const stale = await startOn((await linkToPrimary()).url);
  const read = (service: TestService, after: string) =>
    call({ ...service, key: stale.key }, 'GET', `/v1/events/feed?after=${after}`);
  expect((await read(stale, 'start')).json).toMatchObject({ data: [], caught_up: true });
  await postgres.switchOver();
  const current = await startService({ databaseUrl: (await linkToPrimary()).url });
  cleanups.push(current.stop);
  const event = { body: { type: 'test.after_the_switchover', data: {} } };
  await call({ ...current, key: stale.key }, 'POST', '/v1/events/test', event);
  await sequenceEvents(current);
  const { cursor } = (await read(current, 'start')).json;
  // 503 until it has found the new primary.
  const statuses: number[] = [];
  await until(
    async () => statuses.push((await read(stale, cursor)).status) && statuses.at(-1),
    (status) => status === 200,
  );
  expect(new Set(statuses)).toEqual(new Set([503, 200]));
});
