import { connect, type Socket } from 'node:net';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { call, type Reply } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { type ServerProcess, spawnServer } from '../support/process.ts';
import { head } from '../support/raw-http.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_hostile-clients-in-tests';
const megabyte = 1024 * 1024;

let database: Awaited<ReturnType<typeof cloneDatabase>>;
let server: ServerProcess;
let sockets: Socket[];
beforeEach(async () => {
  sockets = [];
  database = await cloneDatabase();
  server = await spawnServer({ DATABASE_URL: database.url, SIMPLANE_API_KEY: key });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await server.end('SIGKILL');
  await database.drop();
});

const honest = (path: string, body?: object): Promise<Reply> =>
  call({ url: server.url, key }, body ? 'POST' : 'GET', path, body ? { body } : {});

/** The sum of a metric over all series with these labels; 0 if there is none. */
async function metric(name: string, ...labels: string[]): Promise<number> {
  const text = await server.metrics();
  return text
    .split('\n')
    .filter((line) => line.startsWith(name) && labels.every((label) => line.includes(label)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}

const memoryMb = async () => (await metric('process_memory_usage_bytes')) / megabyte;

/** Opens connections that send these bytes and never read. */
async function attack(count: number, bytes: string): Promise<void> {
  const { port } = new URL(server.url);
  for (let i = 0; i < count; i++) {
    const socket = connect(Number(port), '127.0.0.1').pause();
    socket.on('error', () => {});
    sockets.push(socket);
    await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
    socket.write(bytes);
  }
}

async function expectHonestServed(): Promise<void> {
  for (let i = 0; i < 30; i++) expect((await honest('/v1/me')).status).toBe(200);
  const order = await honest('/v1/esims', { product_id: 'prod_europe_5gb_30d' });
  expect(order.status).toBe(202);
}

describe('a server process', () => {
  test('stays below 200 MB when 400 clients request 16 pages each and read none, and serves other clients', async () => {
    await attack(400, head('GET', '/docs').repeat(16));
    await expectHonestServed();
    const pages = () => metric('http_server_request_duration_seconds_count', 'http_route="/docs"');
    await until(pages, (count) => count >= 400);
    expect(await memoryMb()).toBeLessThan(200);
    await expectHonestServed();
    expect(await memoryMb()).toBeLessThan(200);
  });

  test('grows by less than 128 MB when 60 clients leave a 4 MB body unfinished, and accepts large bodies from others', async () => {
    const atRestMb = await memoryMb();
    const announced = 4 * megabyte;
    const request = head('POST', '/v1/usage_records', {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': announced,
    });
    await attack(60, request + ' '.repeat(announced - 1));
    // The budget for bodies holds eight.
    await until(
      () => metric('simplane_http_connections_cut_total', 'reason="bodies"'),
      (count) => count >= 52,
    );
    await expectHonestServed();
    const records = Array.from({ length: 10_000 }, (_, i) => ({
      record_id: `r-${i}`,
      iccid: '8999912345678901234',
      bytes: i,
      at: Math.floor(Date.now() / 1_000),
    }));
    expect((await honest('/v1/usage_records', { records })).status).toBe(200);
    expect((await memoryMb()) - atRestMb).toBeLessThan(128);
  });

  test('grows by less than 160 MB when 20 clients of an account request pages of large events and read none', async () => {
    await insertLargeEvents();
    const other = await createOtherAccount();
    await expectHonestServed();
    const atRestMb = await memoryMb();
    await attack(20, head('GET', '/v1/events?limit=100', { Authorization: `Bearer ${key}` }).repeat(16));
    // Those that wait for room are refused after a while.
    const refused = () =>
      metric('http_server_request_duration_seconds_count', 'http_route="/v1/events"', '"429"');
    await until(refused, (count) => count > 0);
    for (let i = 0; i < 30; i++) {
      const { status } = await call({ url: server.url, key: other }, 'GET', '/v1/events?limit=100');
      expect(status).toBe(200);
    }
    await expectHonestServed();
    expect((await memoryMb()) - atRestMb).toBeLessThan(160);
  });
});

/** 100 events with 250 kB each, of the account with `key`. */
async function insertLargeEvents(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query(
    `insert into events (account_id, id, type, created_at, body)
     select id, gen_random_uuid(), 'a.big', now(),
       format('{"id":"evt_1","object":"event","type":"a.big","api_version":"2026-11-01","created":1,"data":{"text":"%s"}}',
         repeat('x', 250000))
     from accounts cross join generate_series(1, 100)`,
  );
  await client.end();
}

/** Returns a key of another account. */
async function createOtherAccount(): Promise<string> {
  const env = { DATABASE_URL: database.url };
  const created = await runInProcess(['accounts', 'create', '--name', 'Other', '--json'], env);
  const [{ id }] = JSON.parse(created.stdout);
  const { stdout } = await runInProcess(['keys', 'create', '--account', id, '--json'], env);
  return JSON.parse(stdout)[0].key;
}
