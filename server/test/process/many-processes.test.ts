import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { listMigrations, migrationsFolder } from '../../src/platform/db/schema-version.ts';
import { call, provision } from '../support/client.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { runInProcess } from '../support/run-in-process.ts';

const key = 'sp_test_many_processes_sandbox';
const preload = fileURLToPath(new URL('../support/die-at-accept.mjs', import.meta.url));

let database: { url: string; drop(): Promise<void> };
let env: Record<string, string>;
let servers: ServerProcess[];

const allOrders = 'select id from execution_queue union all select id from executions';

beforeAll(async () => {
  database = await createEmptyDatabase();
  env = { DATABASE_URL: database.url, SIMPLANE_API_KEY: key };
  // Four at once on an empty database: all of them migrate, seed and create the account.
  servers = await Promise.all(Array.from({ length: 4 }, () => spawnServer(env)));
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.end('SIGTERM')));
  await database.drop();
});

async function query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<Row>(text, values);
  await client.end();
  return rows;
}

function target(index: number) {
  return { url: servers[index % servers.length]?.url as string, key };
}

test('four processes that start at once on an empty database agree on one schema, one account and one catalog', async () => {
  const identities = await Promise.all(servers.map((_, index) => call(target(index), 'GET', '/v1/me')));
  expect(new Set(identities.map(({ json }) => json.account.id)).size).toBe(1);
  const versions = (
    await query<{ version: number }>('select version from schema_migrations order by version')
  ).map(({ version }) => version);
  expect(versions).toEqual(listMigrations(migrationsFolder).map(({ version }) => version));
  expect(await query('select id from accounts')).toHaveLength(1);
  expect(await query('select id from api_keys')).toHaveLength(1);
});

test('fifty requests with one key across four processes create one execution; each gets the same 202 or a 409', async () => {
  for (let round = 0; round < 5; round++) {
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, i) => provision(target(i), `fifty-${round}`)),
    );
    const accepted = replies.filter(({ status }) => status === 202);
    expect(accepted.length).toBeGreaterThan(0);
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
    const codes = new Set(replies.filter(({ status }) => status !== 202).map(({ json }) => json.error.code));
    expect([...codes].filter((code) => code !== 'idempotency_in_progress')).toEqual([]);
    expect((await provision(target(round), `fifty-${round}`)).text).toBe(accepted[0]?.text);
  }
  expect(await query(allOrders)).toHaveLength(5);
});

describe('a process killed', () => {
  test.each(['before', 'after-commit'])(
    '%s the accept leaves exactly one execution after a retry elsewhere',
    async (moment) => {
      const doomed = await spawnServer({ ...env, DIE_AT_ACCEPT: moment }, { preload });
      const idempotencyKey = `killed-${moment}`;
      const before = await query(allOrders);
      await expect(provision({ url: doomed.url, key }, idempotencyKey)).rejects.toThrow();
      expect(await doomed.end('SIGKILL')).toBe('SIGKILL');
      const retry = await provision(target(0), idempotencyKey);
      expect(retry.status).toBe(202);
      expect(retry.headers.get('Idempotent-Replayed')).toBe(moment === 'after-commit' ? 'true' : null);
      expect(await query(allOrders)).toHaveLength(before.length + 1);
      expect((await call(target(1), 'GET', `/v1/executions/${retry.json.id}`)).json.id).toBe(retry.json.id);
    },
  );
});

test('after a process is killed between committing many orders and answering, retries elsewhere create each order once', async () => {
  const doomed = await spawnServer({ ...env, DIE_AT_ACCEPT: 'after-commit' }, { preload });
  const keys = Array.from({ length: 30 }, (_, n) => `killed-among-${n}`);
  const before = await query(allOrders);
  const lost = await Promise.allSettled(keys.map((one) => provision({ url: doomed.url, key }, one)));
  expect(new Set(lost.map(({ status }) => status))).toEqual(new Set(['rejected']));
  expect(await doomed.end('SIGKILL')).toBe('SIGKILL');
  const retries = await Promise.all(keys.map((one, index) => provision(target(index), one)));
  expect(new Set(retries.map(({ status }) => status))).toEqual(new Set([202]));
  expect(retries.some(({ headers }) => headers.get('Idempotent-Replayed') === 'true')).toBe(true);
  expect(await query(allOrders)).toHaveLength(before.length + keys.length);
});

test('a revoked key stops working on every process within 5 seconds', async () => {
  const created = await runInProcess(['keys', 'create', '--name', 'Short-lived', '--json'], env);
  const [{ key: shortLived, id }] = JSON.parse(created.stdout);
  const everywhere = () =>
    Promise.all(servers.map(({ url }) => call({ url, key: shortLived }, 'GET', '/v1/me')));
  expect((await everywhere()).map(({ status }) => status)).toEqual([200, 200, 200, 200]);

  expect((await runInProcess(['keys', 'revoke', id], env)).code).toBe(0);
  const revokedAtMs = performance.now();
  let replies = await everywhere();
  while (replies.some(({ status }) => status === 200)) {
    expect(performance.now() - revokedAtMs).toBeLessThan(5_000);
    replies = await everywhere();
  }
  expect(replies.map(({ json }) => json.error.code)).toEqual(Array(4).fill('api_key_invalid'));
});

test('a worker serves probes and metrics, and not the API', async () => {
  const worker = await spawnServer({ ...env, SIMPLANE_ROLE: 'worker' });
  const workerTarget = { url: worker.url, key };
  expect((await call(workerTarget, 'GET', '/readyz')).status).toBe(200);
  expect(await worker.metrics()).toContain('simplane_executions_total');
  expect((await call(workerTarget, 'GET', '/v1/me')).json.error.code).toBe('route_missing');
  expect(await worker.end('SIGTERM')).toBe(0);
});
