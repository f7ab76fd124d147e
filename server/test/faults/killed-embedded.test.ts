import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectToRunning } from '../../src/platform/db/embedded/start.ts';
import { uuidOfId } from '../../src/platform/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_killed_embedded_database';
// Leases outlast the test, so work that resumes sooner was released.
const env = {
  SIMPLANE_API_KEY: key,
  SIMPLANE_NETWORK_TIMEOUT: '9m',
  SIMPLANE_EXECUTION_LEASE: '10m',
  SIMPLANE_EXECUTION_RETRY_SCHEDULE: '10m,10m',
  SIMPLANE_WEBHOOK_TIMEOUT: '10m',
};

let dataDir: string;
let receiver: Receiver;
let server: ServerProcess | null = null;

beforeAll(async () => {
  [dataDir, receiver] = await Promise.all([mkdtemp(join(tmpdir(), 'simplane-killed-')), startReceiver()]);
});
afterAll(async () => {
  await server?.end('SIGTERM');
  await receiver.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start(mockDelay: string): Promise<{ url: string; key: string }> {
  server = await spawnServer({ ...env, SIMPLANE_DATA_DIR: dataDir, SIMPLANE_MOCK_DELAY: mockDelay });
  return { url: server.url, key };
}

async function kill(): Promise<void> {
  await server?.end('SIGKILL');
  server = null;
}

type Row = { status: string; attempts: number; fence: number; isPostponed: boolean };

async function rowOf(executionId: string): Promise<Row> {
  const running = await connectToRunning(dataDir);
  const client = new pg.Client({ connectionString: running?.connectionString });
  await client.connect();
  try {
    const { rows } = await client.query<Row>(
      `select case when attempts = 0 then 'queued' else 'running' end as status, attempts, fence,
              progress ? 'failures' as "isPostponed"
       from execution_queue where id = $1
       union all
       select status, attempts, null, progress ? 'failures' from executions where id = $1`,
      [uuidOfId('exec', executionId)],
    );
    return rows[0] as Row;
  } finally {
    await client.end();
  }
}

test('an order and a delivery in progress when the process is killed resume at the next start; a retry delay is kept', async () => {
  receiver.answer(() => {}); // never answers, so the delivery is in flight at the kill
  let target = await start('0s');
  await call(target, 'POST', '/v1/webhook_endpoints', {
    body: { url: receiver.url, enabled_event_types: ['test.*'] },
  });
  await call(target, 'POST', '/v1/events/test', { body: { type: 'test.slow', data: {} } });
  await until(
    async () => receiver.received.length,
    (count) => count === 1,
  );
  const flaky = (await provision(target, undefined, { product_id: 'prod_sandbox_flaky' })).json.id;
  await until(
    () => rowOf(flaky),
    ({ isPostponed }) => isPostponed,
  );
  await kill();

  target = await start('20s');
  const order = (await provision(target, undefined, { product_id: 'prod_sandbox_slow' })).json.id;
  const claimed = await until(
    () => rowOf(order),
    ({ status }) => status === 'running',
  );
  await until(
    async () => receiver.received.length,
    (count) => count === 2,
  );
  await kill();

  target = await start('20s');
  // Incremented once by the release and once by the next claim.
  await until(
    () => rowOf(order),
    ({ fence }) => fence === claimed.fence + 2,
  );
  await kill();

  receiver.answer((response) => response.end('ok'));
  target = await start('0s');
  await until(
    () => rowOf(order),
    ({ status }) => status === 'succeeded',
  );
  await until(
    async () => receiver.received.length,
    (count) => count >= 3,
  );
  expect(await rowOf(flaky)).toMatchObject({ status: 'running', attempts: 1, fence: 1 });
});
