import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhooks } from '../../../sdk/src/index.ts';
import { unixMsOf } from '../../src/ids/uuid-range.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_clocks_of_a_sandbox';
const preload = fileURLToPath(new URL('../support/shift-clock.mjs', import.meta.url));
const dayMs = 86_400_000;

let folder: string;
let database: { url: string; drop(): Promise<void> };
let receiver: Receiver;
let secret: string;
let right: ServerProcess;
let env: Record<string, string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simplane-clocks-'));
  database = await cloneDatabase();
  receiver = await startReceiver();
  env = { DATABASE_URL: database.url, SIMPLANE_API_KEY: key, SIMPLANE_DATA_DIR: folder };
  right = await spawnServer({ ...env, SIMPLANE_ROLE: 'api' });
  const body = { url: receiver.url, enabled_event_types: ['*'] };
  secret = (await call({ ...right, key }, 'POST', '/v1/webhook_endpoints', { body })).json.secret;
});
afterAll(async () => {
  await right.end('SIGTERM');
  await receiver.stop();
  await database.drop();
  await rm(folder, { recursive: true });
});

async function query<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query<Row>(text, values);
  await client.end();
  return rows;
}

/** A process whose wall clock is wrong by so much, until `shift` changes that. */
async function startShifted(shiftMs: number, settings: Record<string, string> = {}) {
  const file = join(folder, `shift-${Math.random()}`);
  const shift = (ms: number) => writeFile(file, String(ms));
  await shift(shiftMs);
  const server = await spawnServer({ ...env, ...settings, CLOCK_SHIFT_FILE: file }, { preload });
  return { ...server, shift };
}

/** Orders an eSIM and activates its bundle of 30 days. Returns the ICCID. */
async function orderEsim(target: { url: string; key: string }, idempotencyKey: string): Promise<string> {
  const { json: order } = await provision(target, idempotencyKey);
  const { iccid } = await until(
    async () => (await call(target, 'GET', `/v1/executions/${order.id}`)).json,
    ({ status }) => status === 'succeeded',
  );
  for (const body of [{ action: 'install' }, { action: 'attach', country: 'FR' }]) {
    const simulated = await call(target, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, { body });
    expect(simulated.status).toBe(200);
  }
  return iccid;
}

describe.each([31, -31])('a process whose wall clock is %i days off', (days) => {
  test('expires, replays, names and signs by PostgreSQL’s clock', async () => {
    const startedMs = Date.now();
    const server = await startShifted(days * dayMs);
    const target = { url: server.url, key };
    const first = await provision({ ...right, key }, `first-${days}`);
    expect((await provision(target, `first-${days}`)).text).toBe(first.text);

    const [lasting, ending] = [await orderEsim(target, `a-${days}`), await orderEsim(target, `b-${days}`)];
    const statusOf = async (iccid: string) =>
      (await call(target, 'GET', `/v1/esims/${iccid}/bundles`)).json.data[0].status;
    expect([await statusOf(lasting), await statusOf(ending)]).toEqual(['active', 'active']);
    await query('update bundles set expires_at = clock_timestamp() where iccid = $1', [ending]);
    await until(
      () => statusOf(ending),
      (status) => status === 'expired',
    );
    expect(await statusOf(lasting)).toBe('active');

    const ids = await query<{ id: string }>('select id from events union all select id from executions');
    const times = ids.map(({ id }) => unixMsOf(id)).filter((ms) => ms < startedMs - dayMs || ms > Date.now());
    expect([ids.length > 0, times]).toEqual([true, []]);

    const sent = await until(
      async () => receiver.received.filter(({ body }) => body.includes(ending)),
      (found) => found.some(({ body }) => body.includes('bundle.expired')),
    );
    for (const { body, headers } of sent) await webhooks.verify(body, headers['service-signature'], secret);
    expect((await provision(target, `first-${days}`)).text).toBe(first.text);
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

test('webhooks and commands to the core carry PostgreSQL’s time', async () => {
  const core = await startReceiver();
  const settings = {
    SIMPLANE_CORE_URL: core.url,
    SIMPLANE_CORE_SECRET: 'a-secret-of-the-core-in-these-tests',
  };
  const server = await startShifted(-25_000, settings);
  const target = { url: server.url, key };
  const startedSeconds = Math.floor(Date.now() / 1000);
  const iccid = await orderEsim(target, 'signed');
  await call(target, 'POST', `/v1/esims/${iccid}/suspend`);
  const sent = await until(
    async () => receiver.received.filter(({ body }) => body.includes(iccid)).concat(core.received),
    (found) => core.received.length > 0 && found.length > 1,
  );
  const times = sent.map(({ headers }) => Number(/^t=(\d+)/.exec(`${headers['service-signature']}`)?.[1]));
  expect(times.filter((seconds) => !(seconds >= startedSeconds))).toEqual([]);
  await server.end('SIGTERM');
  await core.stop();
});

test('a key made by a command whose wall clock is 31 days behind ends when it should', async () => {
  const file = join(folder, 'command');
  await writeFile(file, String(-31 * dayMs));
  const args = ['keys', 'create', '--name', 'Short', '--expires-in', '1d', '--json'];
  const { stdout } = await runCommand(args, { ...env, CLOCK_SHIFT_FILE: file }, { preload });
  const [{ key: made }] = JSON.parse(stdout);
  expect((await call({ url: right.url, key: made }, 'GET', '/v1/me')).status).toBe(200);
});
