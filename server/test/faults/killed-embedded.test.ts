import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectToRunning } from '../../src/db/embedded/start.ts';
import { uuidOfId } from '../../src/ids/uuid.ts';
import { call, provision } from '../support/client.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_killed_embedded_database';
// Leases that end long after any test would: what ends sooner was freed.
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
      `select status, attempts, fence, progress ? 'failures' as "isPostponed" from executions where id = $1`,
      [uuidOfId('exec', executionId)],
    );
    return rows[0] as Row;
  } finally {
    await client.end();
  }
}

test('an order and a delivery that were under way when the process was killed go on at once; a pause between attempts is kept', async () => {
  receiver.answer(() => {}); // hangs, so that the delivery is under way until the kill
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

  receiver.answer((response) => response.end('ok'));
  target = await start('0s');
  const settled = await until(
    () => rowOf(order),
    ({ status }) => status === 'succeeded',
  );
  expect(settled.fence).toBeGreaterThan(claimed.fence + 1); // raised once when freed and once when claimed again
  await until(
    async () => receiver.received.length,
    (count) => count === 3,
  );
  expect(await rowOf(flaky)).toMatchObject({ status: 'running', attempts: 1, fence: 1 });
});
