import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { webhooks } from '../../../sdk/src/index.ts';
import { unixMsOf } from '../../src/platform/ids/uuid-range.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { runInProcess } from '../support/run-in-process.ts';
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

const readiness = (server: ServerProcess) => call({ url: server.url, key }, 'GET', '/readyz');

/** Answers 200 in either case: the API works, by PostgreSQL's clock. */
const untilReady = (server: ServerProcess, status: 'ok' | 'impaired') =>
  until(
    () => readiness(server),
    (reply) => reply.status === 200 && reply.json.status === status,
  );

/** Waits for another heartbeat of the process, with which it would have begun to work. */
async function untilSeenAgain({ pid }: ServerProcess): Promise<void> {
  const seenAt = async () => {
    const [row] = await query<{ at: string }>('select seen_at::text as at from processes where pid = $1', [
      pid,
    ]);
    return row?.at;
  };
  const before = await seenAt();
  await until(seenAt, (at) => at !== undefined && at !== before);
}

const statusOf = async (order: { id: string }) =>
  (await call({ ...right, key }, 'GET', `/v1/executions/${order.id}`)).json.status;

const untilDone = (order: { id: string }) =>
  until(
    () => statusOf(order),
    (status) => status === 'succeeded',
  );

const sentAbout = (text: string) => receiver.received.filter(({ body }) => body.includes(text));

describe.each([31, -31])('a process whose wall clock is %i days off', (days) => {
  test('replays and names by PostgreSQL’s clock, works on nothing, says why, and goes on when its clock is right', async () => {
    const startedMs = Date.now();
    const before = await provision({ ...right, key }, `before-${days}`);
    const server = await startShifted(days * dayMs);
    const target = { url: server.url, key };
    const { json } = await untilReady(server, 'impaired');
    const where = days > 0 ? 'ahead of' : 'behind';
    const message = expect.stringContaining(`s ${where} PostgreSQL’s`);
    expect(json.impaired).toEqual([{ what: 'clock', message }]);
    expect(server.output()).toContain(json.impaired[0].message);
    expect((await provision(target, `before-${days}`)).text).toBe(before.text);
    const { json: order } = await provision(target, `order-${days}`);
    const [{ id }] = (await query('select id from execution_queue order by id desc limit 1')) as [
      { id: string },
    ];
    expect(unixMsOf(id)).toBeGreaterThan(startedMs - 60_000);
    expect(unixMsOf(id)).toBeLessThan(Date.now() + 60_000);
    await untilSeenAgain(server);
    expect(await statusOf(order)).toBe('queued');

    await server.shift(0);
    await untilReady(server, 'ok');
    await Promise.all([untilDone(before.json), untilDone(order)]);
    expect(await server.end('SIGTERM')).toBe(0);
  });
});

test('a worker whose clock jumps gives its work back, sends nothing, and goes on when its clock is right', async () => {
  const server = await startShifted(0);
  const target = { url: server.url, key };
  const iccid = await orderEsim(target, 'jump');
  await until(
    async () => sentAbout(iccid),
    (sent) => sent.length > 0,
  );
  for (const jumpMs of [3_600_000, -3_600_000]) {
    await server.shift(jumpMs);
    await untilReady(server, 'impaired');
    await until(
      () => query('select from endpoint_leases where leased_until > now()'),
      (leases) => leases.length === 0,
    );
    const { json: order } = await provision(target, `jump-${jumpMs}`);
    const { json: endpoints } = await call(target, 'GET', '/v1/webhook_endpoints');
    const probe = await call(target, 'POST', `/v1/webhook_endpoints/${endpoints.data[0].id}/probe`);
    expect(probe.status).toBe(503);
    await call(target, 'POST', `/v1/sandbox/esims/${iccid}/simulate`, {
      body: { action: 'use_data', bytes: 4_000_000_000 },
    });
    const sent = receiver.received.length;
    await untilSeenAgain(server);
    expect([await statusOf(order), receiver.received.length]).toEqual(['queued', sent]);
    const metrics = await server.metrics();
    const skew = Number(/^simplane_clock_skew_seconds (\S+)$/m.exec(metrics)?.[1]);
    expect(Math.abs(skew - jumpMs / 1000)).toBeLessThan(30);

    await server.shift(0);
    await untilReady(server, 'ok');
    await untilDone(order);
    await until(
      async () => receiver.received.length,
      (count) => count > sent,
    );
  }
  expect(await server.end('SIGTERM')).toBe(0);
});

test('a worker whose clock is 25 s ahead warns, and expires and signs by PostgreSQL’s clock', async () => {
  const core = await startReceiver();
  const settings = {
    SIMPLANE_CORE_URL: core.url,
    SIMPLANE_CORE_SECRET: 'a-secret-of-the-core-in-these-tests',
  };
  const server = await startShifted(25_000, settings);
  const target = { url: server.url, key };
  expect(server.output()).toContain('the clocks of this machine and PostgreSQL differ');
  await untilReady(server, 'ok');
  const { stdout } = await runInProcess(['doctor', '--json'], env);
  expect(JSON.parse(stdout)).toContainEqual({
    check: 'clocks',
    verdict: 'warning',
    says: expect.stringMatching(/^proc_\w+ on \S+ is 2\d s ahead; run NTP/),
  });
  expect((await runInProcess(['overview'], env)).stdout).toMatch(/\nPROCESS_ID +HOST +CLOCK_SKEW_MS\nproc_/);
  const iccid = await orderEsim(target, 'signed');
  await query(`update bundles set expires_at = clock_timestamp() + interval '15 s' where iccid = $1`, [
    iccid,
  ]);
  await until(
    async () => (await call(target, 'GET', `/v1/esims/${iccid}/bundles`)).json.data[0].status,
    (status) => status === 'expired',
  );
  expect(
    await query('select from bundles where iccid = $1 and expires_at > clock_timestamp()', [iccid]),
  ).toEqual([]);

  await call(target, 'POST', `/v1/esims/${iccid}/suspend`);
  const sent = await until(
    async () => [...core.received, ...sentAbout(iccid)],
    (all) => core.received.length > 0 && all.length > 1,
  );
  const nowSeconds = Math.floor(Date.now() / 1000);
  const times = sent.map(({ headers }) => Number(/^t=(\d+)/.exec(`${headers['service-signature']}`)?.[1]));
  expect(times.filter((seconds) => !(seconds <= nowSeconds))).toEqual([]);
  for (const { body, headers } of sentAbout(iccid))
    await webhooks.verify(body, headers['service-signature'], secret);
  expect(await server.end('SIGTERM')).toBe(0);
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
