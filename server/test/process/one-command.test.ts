import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { connectToRunning } from '../../src/platform/db/embedded/start.ts';
import { call, provision } from '../support/client.ts';
import { cloneDatabase } from '../support/database.ts';
import { runCommand, type ServerProcess, spawnServer } from '../support/process.ts';
import { runInProcess } from '../support/run-in-process.ts';
import { until } from '../support/until.ts';

const key = 'sp_test_for_several_processes';

const childrenOf = (pid: number) =>
  execFileSync('ps', ['-A', '-o', 'ppid=,pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([parent, , ...args]) => Number(parent) === pid && args.includes('serve'))
    .map(([, child]) => Number(child));

const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

/** The processes that answer a scrape, by their label. */
const labelsIn = (metrics: string) =>
  [...metrics.matchAll(/^process_uptime_seconds\{process="(\d+)"\}/gm)].map(([, id]) => id).sort();

const whole = (server: ServerProcess, count: number) =>
  until(
    async () => labelsIn(await server.metrics().catch(() => '')), // its connection may have gone to a killed one
    (labels) => labels.length === count,
  );

async function orderAndFinish(server: { url: string; key: string }, count: number): Promise<void> {
  const orders = await Promise.all(Array.from({ length: count }, () => provision(server)));
  for (const { status, json } of orders) {
    expect(status).toBe(202);
    await until(
      async () => (await call(server, 'GET', `/v1/executions/${json.id}`)).json.status,
      (now) => now === 'succeeded',
    );
  }
}

describe('SIMPLANE_PROCESSES with the embedded PostgreSQL', () => {
  let closed: string;
  let folder: string;
  let server: ServerProcess;
  beforeAll(async () => {
    // Only its owner can enter it. PostgreSQL does not run as root, so root's database goes elsewhere.
    closed = await mkdtemp(join(tmpdir(), 'simplane-processes-'));
    folder = join(closed, 'data');
    const pool = { SIMPLANE_DATABASE_POOL_SIZE: '40' };
    server = await spawnServer({
      ...{ SIMPLANE_DATA_DIR: folder, SIMPLANE_PROCESSES: '3', SIMPLANE_API_KEY: key, ...pool },
    });
  });
  afterAll(async () => {
    await server.end('SIGKILL');
    const elsewhere = placeTold();
    if (elsewhere !== null) await rm(dirname(elsewhere), { recursive: true, force: true });
    await rm(closed, { recursive: true, force: true });
  });

  /** Where the log says that the database is, if it is not in the folder. */
  const placeTold = () => /The database is in (\S+), not in /.exec(server.output())?.[1] ?? null;

  test('its parent tells where the database is, if not where it was told to be', async () => {
    const isInside = await stat(join(folder, 'postgres')).then(
      () => true,
      () => false,
    );
    expect(isInside).toBe(process.getuid?.() !== 0);
    await until(
      async () => (placeTold() === null) === isInside,
      (isTold) => isTold,
    );
  });

  test('serves on one port with three processes, greets once, and each scrape has them all', async () => {
    expect(await whole(server, 3)).toEqual(['1', '2', '3']);
    expect(childrenOf(server.pid)).toHaveLength(3);
    expect(server.output().match(/is ready at/g)).toHaveLength(1);
    const { url, pid } = JSON.parse(await readFile(join(folder, 'sandbox-address'), 'utf8'));
    expect({ url, pid }).toEqual({ url: server.url, pid: server.pid });
    await orderAndFinish({ url: server.url, key }, 12);
    const { stdout } = await runInProcess(['processes', '--json'], { SIMPLANE_DATA_DIR: folder });
    expect(JSON.parse(stdout)).toHaveLength(3);
  });

  /** As `doctor` tells it. */
  async function connectionsAllowed(): Promise<string | undefined> {
    const { stdout } = await runInProcess(['doctor'], { SIMPLANE_DATA_DIR: folder });
    return /\d+ of (\d+) are free/.exec(stdout)?.[1];
  }

  test('PostgreSQL allows the connections of all of them', async () => {
    expect(await connectionsAllowed()).toBe('152'); // 3 × (40 + 4) + 20
  });

  test('a process that is killed is replaced, and the others go on', async () => {
    const [killed] = childrenOf(server.pid) as [number];
    process.kill(killed, 'SIGKILL');
    // Connections to the killed one break; new ones go to the others, long before it is replaced.
    await until(
      () => fetch(`${server.url}/readyz`).then(({ status }) => status, String),
      (status) => status === 200,
    );
    await orderAndFinish({ url: server.url, key }, 12);
    expect((await whole(server, 3)).filter((id) => Number(id) > 3)).toEqual(['4']);
    expect(childrenOf(server.pid)).not.toContain(killed);
    expect(server.output()).toContain('a process ended by itself; another replaces it');
  });

  test('one that hangs does not keep the others’ metrics from being read', async () => {
    const [hanging] = childrenOf(server.pid) as [number];
    process.kill(hanging, 'SIGSTOP');
    try {
      // The port gives connections to all in turn, so some scrapes wait for the one that hangs.
      const labels = await Promise.any(
        Array.from({ length: 6 }, async () => labelsIn(await server.metrics())),
      );
      expect(labels).toHaveLength(2);
    } finally {
      process.kill(hanging, 'SIGCONT');
    }
  });

  test('SIGTERM ends them all, and the database with them', async () => {
    const children = childrenOf(server.pid);
    expect(await server.end('SIGTERM')).toBe(0);
    expect(children.filter(isAlive)).toEqual([]);
    await expect(stat(join(folder, 'sandbox-address'))).rejects.toThrow('ENOENT');
    const again = await spawnServer({ SIMPLANE_DATA_DIR: folder, SIMPLANE_API_KEY: key });
    const { data } = (await call({ url: again.url, key }, 'GET', '/v1/executions?limit=100')).json;
    expect(data.map((one: { status: string }) => one.status)).toEqual(Array(24).fill('succeeded'));
    expect(await connectionsAllowed()).toBe('100');
    expect(await again.end('SIGTERM')).toBe(0);
  });

  async function query<Row extends object>(text: string): Promise<Row[]> {
    const running = await connectToRunning(folder);
    const client = new pg.Client({ connectionString: running?.connectionString });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  test('after all were killed, the next start releases what they had begun; without its database it ends', async () => {
    // Leases outlast the test.
    const env = { SIMPLANE_DATA_DIR: folder, SIMPLANE_PROCESSES: '2', SIMPLANE_API_KEY: key };
    const leases = { SIMPLANE_NETWORK_TIMEOUT: '9m', SIMPLANE_EXECUTION_LEASE: '10m' };
    const killed = await spawnServer({ ...env, ...leases, SIMPLANE_MOCK_DELAY: '20s' });
    const children = childrenOf(killed.pid);
    await provision({ url: killed.url, key }, undefined, { product_id: 'prod_sandbox_slow' });
    await until(
      () => query('select from execution_queue where leased_until is not null'),
      ({ length }) => length === 1,
    );
    await killed.end('SIGKILL');
    await until(
      async () => children.filter(isAlive),
      (alive) => alive.length === 0,
    );
    const again = await spawnServer(env);
    onTestFinished(() => void again.end('SIGKILL')); // also if it waits in vain
    expect(again.output()).toContain('released the claims of an earlier process');
    const [{ path } = { path: '' }] = await query<{ path: string }>(
      `select setting || '/postmaster.pid' as path from pg_settings where name = 'data_directory'`,
    );
    process.kill(Number.parseInt(await readFile(path, 'utf8'), 10), 'SIGKILL');
    expect(await again.ended).toBe(1);
    expect(again.output()).toContain('the embedded PostgreSQL exited');
  });
});

describe('SIMPLANE_PROCESSES with a database of its own', () => {
  let database: Awaited<ReturnType<typeof cloneDatabase>>;
  beforeAll(async () => {
    database = await cloneDatabase();
  });
  afterAll(() => database.drop());
  const env = () => ({ DATABASE_URL: database.url, SIMPLANE_API_KEY: key, SIMPLANE_PROCESSES: '2' });
  let server: ServerProcess | null = null;
  afterEach(() => server?.end('SIGKILL'));

  test('children do not outlive a parent that was killed', async () => {
    server = await spawnServer(env());
    await whole(server, 2);
    const children = childrenOf(server.pid);
    await server.end('SIGKILL');
    await until(
      async () => children.filter(isAlive),
      (alive) => alive.length === 0,
    );
  });

  test('a process that could not stop as it should makes the command end with 1', async () => {
    server = await spawnServer(env());
    await whole(server, 2);
    const [hanging, other] = childrenOf(server.pid) as [number, number];
    process.kill(hanging, 'SIGSTOP');
    const ended = server.end('SIGTERM');
    // Once the other has ended, the command is stopping, and does not take it for a crash.
    await until(
      async () => isAlive(other),
      (alive) => !alive,
    );
    process.kill(hanging, 'SIGKILL');
    expect(await ended).toBe(1);
  });

  test('a port that is taken ends it once, with what to change', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    const { code, stderr } = await runCommand(['serve'], { ...env(), PORT: String(port) });
    holder.close();
    expect(code).toBe(1);
    expect(stderr.match(/set PORT to a free port/g)).toHaveLength(1);
  });

  test('a value that is neither a number nor auto is refused', () => {
    const message = 'SIMPLANE_PROCESSES takes `auto`, or a whole number from 1 to 64';
    expect(() => readConfig({ ...env(), SIMPLANE_PROCESSES: 'all' })).toThrow(message);
  });
});
