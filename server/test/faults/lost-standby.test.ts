import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createServer, type PostgresServer } from '../../../faults/src/deployment/postgres-server.ts';
import { seedSandbox } from '../../src/accounts/products/sandbox-catalog.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { call, provision } from '../support/client.ts';
import { startService, type TestService } from '../support/service.ts';
import { until } from '../support/until.ts';

let postgres: PostgresServer;
let service: TestService;

beforeAll(async () => {
  postgres = await createServer({ wal_level: 'replica', max_wal_senders: '2', max_connections: '60' });
  await postgres.start();
  await migrate(postgres.url('simplane'));
  service = await startService({ databaseUrl: postgres.url('simplane') });
  await seedSandbox(service.db, service.clock);
});
afterAll(async () => {
  await service.stop();
  await postgres.remove();
});

/** Makes commits wait for this standby, as when a synchronous standby is lost; '' ends the wait. */
async function requireStandby(name: string): Promise<void> {
  await postgres.query('postgres', `alter system set synchronous_standby_names = '${name}'`);
  await postgres.query('postgres', 'select pg_reload_conf()');
}

async function countSessions(where: string): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    'postgres',
    `select count(*)::int as count from pg_stat_activity where datname = 'simplane' and ${where}`,
  );
  return row?.count ?? 0;
}

async function countOrders(): Promise<number> {
  const [row] = await postgres.query<{ count: number }>(
    'simplane',
    `select (select count(*) from executions)::int + (select count(*) from execution_queue)::int as count`,
  );
  return row?.count ?? 0;
}

const waiting = `wait_event = 'SyncRep'`;
const readiness = async () => {
  const { status, json } = await call(service, 'GET', '/readyz');
  return `${status} ${json.status}`;
};

test('when a synchronous standby is lost, writes soon get 503, reads go on, and a retry with the same key settles each order', async () => {
  const endpoint = { url: 'http://127.0.0.1:9/hook', enabled_event_types: ['*'] };
  expect((await provision(service)).status).toBe(202);
  const before = await countOrders();
  await requireStandby('nobody');

  // Some batched, some in their own transactions; more than the pool has connections.
  const keys = Array.from({ length: 60 }, () => randomUUID());
  const startedAtMs = performance.now();
  const replies = await Promise.all([
    ...keys.map((key) => provision(service, key)),
    ...Array.from({ length: 20 }, () => call(service, 'POST', '/v1/webhook_endpoints', { body: endpoint })),
  ]);
  const tookMs = performance.now() - startedAtMs;
  expect(new Set(replies.map(({ status, json }) => `${status} ${json.error?.code}`))).toEqual(
    new Set(['503 unavailable']),
  );
  // Measured: 5.1 s on a loaded machine. The statement timeout is 15 s.
  expect(tookMs).toBeLessThan(14_000);
  expect(await readiness()).toBe('200 impaired');
  expect((await call(service, 'GET', '/v1/products')).status).toBe(200);

  // Clients keep retrying; there are never more waiting backends than the pool has connections.
  for (let round = 0; round < 3; round++) {
    const again = await Promise.all([
      ...keys.map((key) => provision(service, key)),
      ...Array.from({ length: 20 }, () => call(service, 'POST', '/v1/webhook_endpoints', { body: endpoint })),
    ]);
    expect(again.filter(({ status }) => status !== 503 && status !== 409)).toEqual([]);
  }
  expect(await countSessions(waiting)).toBeGreaterThan(0);
  expect(await countSessions(waiting)).toBeLessThanOrEqual(16);
  expect(await countSessions('true')).toBeLessThanOrEqual(2 * 16 + 2);

  await requireStandby('');
  await until(readiness, (says) => says === '200 ok');
  const settled = await Promise.all(keys.map((key) => provision(service, key)));
  expect(new Set(settled.map(({ status }) => status))).toEqual(new Set([202]));
  const repeated = await Promise.all(keys.map((key) => provision(service, key)));
  expect(repeated.map(({ text }) => text)).toEqual(settled.map(({ text }) => text));
  expect(await countOrders()).toBe(before + keys.length);
});

test('a commit that waits briefly is still acknowledged', async () => {
  await requireStandby('nobody');
  // Sessions hear of the setting a moment later; orders that commit before do not wait.
  const ordering: ReturnType<typeof provision>[] = [];
  await until(
    () => {
      ordering.push(provision(service, randomUUID()));
      return countSessions(waiting);
    },
    (count) => count > 0,
  );
  await requireStandby('');
  for (const { status } of await Promise.all(ordering)) expect(status).toBe(202);
});
