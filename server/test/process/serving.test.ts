import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, inject, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { createMockNetwork } from '../../src/network/mock/mock-network.ts';
import { connect as connectDatabase } from '../../src/platform/db/connect.ts';
import { passwordFile } from '../../src/platform/db/embedded/access.ts';
import { readProcess } from '../../src/platform/db/embedded/process-table.ts';
import { createLog } from '../../src/platform/telemetry/log.ts';
import { type Running, serve } from '../../src/serve.ts';
import { call } from '../support/client.ts';
import { insertWaiting } from '../support/insert-executions.ts';
import { head } from '../support/raw-http.ts';
import { startService, type TestService } from '../support/service.ts';

const key = 'sp_test_served_in_the_process_of_the_test';

let other: TestService;
let lines: string[];
beforeEach(async () => {
  other = await startService();
  lines = [];
});
afterEach(() => other.stop());

/** As the command `serve` does, on the database of another process. */
function start(env: Record<string, string> = {}): Promise<Running> {
  const { config } = readConfig({
    ...{ DATABASE_URL: other.databaseUrl, PORT: '0', SIMPLANE_METRICS_PORT: 'off', SIMPLANE_API_KEY: key },
    SIMPLANE_ENCRYPTION_KEYS: Buffer.alloc(32, 1).toString('base64'),
    ...env,
  });
  const log = createLog('info', { write: (line) => void lines.push(line) });
  return serve(config, log, createMockNetwork({ delayMs: 0 }));
}

test('a process that starts leaves others the orders that they run', async () => {
  await insertWaiting(other);
  const { pool } = other.db;
  const claims = async () =>
    (await pool.query('select fence, leased_until, holder from execution_queue')).rows;
  await pool.query(
    `update execution_queue set fence = 1, leased_until = now() + interval '1 hour', holder = gen_random_uuid()`,
  );
  const before = await claims();
  const running = await start({ SIMPLANE_ROLE: 'api' });
  expect(await claims()).toEqual(before);
  await running.stop();
});

test('only who started the embedded PostgreSQL is its only user; a process that shares it, or has another, is not', async () => {
  const { hostname, password, searchParams } = new URL(inject('postgresUrl'));
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-shared-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const owner = {
    ...{ pid: process.pid, process_start: (await readProcess(process.pid))?.started },
    ...{ socket_dir: searchParams.get('host') ?? hostname, database: 'postgres' },
  };
  await writeFile(join(dataDir, 'owner.json'), JSON.stringify(owner));
  if (password) await writeFile(passwordFile(dataDir), decodeURIComponent(password));
  for (const databaseUrl of [null, other.databaseUrl]) {
    const connection = await connectDatabase({
      ...{ databaseUrl, dataDir, share: true, poolSize: 1, waitMs: 0 },
      onError: () => {},
    });
    expect(connection.isOnlyUser).toBe(false);
    await connection.close();
  }
});

test('a process does not start on the database of the other mode', async () => {
  const running = await start();
  await running.stop();
  await expect(start({ SIMPLANE_MODE: 'live', SIMPLANE_API_KEY: '' })).rejects.toThrow(
    'this database belongs to a sandbox deployment',
  );
});

test('when a key was last used is saved when the process stops, and so is the log of its last requests', async () => {
  const running = await start({ SIMPLANE_ROLE: 'api' });
  expect((await call({ url: running.localUrl, key }, 'GET', '/v1/me')).status).toBe(200);
  await running.stop();
  const { rows } = await other.db.pool.query(
    `select last_used_at is not null as used from api_keys where last4 = $1`,
    [key.slice(-4)],
  );
  expect(rows).toEqual([{ used: true }]);
  const logged = await other.db.pool.query('select path from request_log');
  expect(logged.rows).toEqual([{ path: '/v1/me' }]);
});

test('a request that never ends does not keep a process from stopping', async () => {
  const running = await start({
    ...{ SIMPLANE_SHUTDOWN_TIMEOUT: '100ms', SIMPLANE_REQUEST_TIMEOUT: '24h' },
    ...{ SIMPLANE_ROLE: 'api' },
  });
  const { hostname, port } = new URL(running.localUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  const fields = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  socket.write(head('POST', '/v1/esims', { ...fields, 'Content-Length': '100', Expect: '100-continue' }));
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toContain('100 Continue'); // from here on the request is in flight
  await running.stop();
  expect(lines.join()).toContain('requests in flight did not finish in time');
}, 60_000);
