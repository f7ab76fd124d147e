import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@simplane/server/embedded-postgres';
import pg from 'pg';
import { openExternalPostgres } from './external-postgres.ts';

/** A server process and the database behind it. */
export type Target = { url: string; key: string; databaseUrl: string; pid: number };

type Stoppable = { stop(): Promise<void> };

export type Deployment = Target &
  Stoppable & {
    /** Encrypts the secrets in its database. */
    encryptionKey: Buffer;
    /** Creates another database in the same PostgreSQL. */
    createDatabase(name: string): Promise<string>;
    /** Starts another server process, by default on the first database. */
    startServer(settings: Record<string, string>, databaseUrl?: string): Promise<Target & Stoppable>;
  };

type Options = {
  settings?: Record<string, string>;
  profileDir?: string | undefined;
  /** A PostgreSQL that already runs, instead of a new one. */
  postgresUrl?: string | undefined;
};

const key = 'sp_test_bench_of_a_sandbox';

const running = new Set<() => Promise<void>>();

/** Stops every server and PostgreSQL and deletes their folders, after an interrupt. */
export async function stopDeployments(): Promise<void> {
  await Promise.all([...running].map((stop) => stop()));
}

/** Starts one server process, on loopback, with a new PostgreSQL with durable commits. */
export async function startDeployment({
  settings = {},
  profileDir,
  postgresUrl,
}: Options = {}): Promise<Deployment> {
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-bench-'));
  const postgres = postgresUrl
    ? await openExternalPostgres(postgresUrl)
    : // Commit timestamps are the start of each event's latency.
      await startEmbeddedPostgres({ dataDir, settings: { track_commit_timestamp: 'on' } });
  // Not PostgreSQL's folder, which may belong to another user.
  const serverDir = await mkdtemp(join(tmpdir(), 'simplane-bench-'));
  const encryptionKey = randomBytes(32);
  const stops: (() => Promise<void>)[] = [];

  async function startServer(
    overrides: Record<string, string>,
    databaseUrl = postgres.connectionString,
  ): Promise<Target & Stoppable> {
    const { url, pid, stop } = await spawnServer(
      {
        PATH: process.env['PATH'] ?? '',
        NODE_ENV: 'production',
        PORT: '0',
        SIMPLANE_METRICS_PORT: 'off',
        DATABASE_URL: databaseUrl,
        SIMPLANE_API_KEY: key,
        SIMPLANE_DATA_DIR: serverDir,
        SIMPLANE_ENCRYPTION_KEYS: encryptionKey.toString('base64'),
        SIMPLANE_MOCK_DELAY: '0s',
        // As in live mode.
        SIMPLANE_REQUEST_LOG: 'errors',
        ...overrides,
      },
      join(serverDir, `server-${stops.length}.log`),
      profileDir,
    );
    stops.push(stop);
    return { url, key, databaseUrl, pid, stop };
  }

  async function stop(): Promise<void> {
    if (!running.delete(stop)) return;
    await Promise.all(stops.map((end) => end()));
    await postgres.stop();
    for (const dir of [dataDir, serverDir]) await rm(dir, { recursive: true, force: true });
  }

  running.add(stop);
  try {
    const first = await startServer(settings);
    return {
      ...first,
      encryptionKey,
      startServer,
      async createDatabase(name) {
        await runSql(postgres.connectionString, `create database ${name}`);
        const url = new URL(postgres.connectionString);
        url.pathname = `/${name}`;
        return url.href;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const startTimeoutMs = 30_000;

/** Logs to a file, as in production: a pipe would add this process's work to the measurement. */
async function spawnServer(env: Record<string, string>, logFile: string, profileDir: string | undefined) {
  const folder = dirname(createRequire(import.meta.url).resolve('@simplane/server/serve'));
  // What ships; a profile names the files of the build.
  const program = join(folder, profileDir ? '../bin/simplane-server.js' : '../bundle/main.js');
  const profiling = profileDir ? ['--cpu-prof', `--cpu-prof-dir=${profileDir}`] : [];
  const log = await open(logFile, 'a');
  const server = spawn(process.execPath, [...profiling, program, 'serve'], {
    env,
    stdio: ['ignore', log.fd, 'inherit'],
  });
  const ended = once(server, 'close');
  await log.close();
  const deadlineMs = performance.now() + startTimeoutMs;
  for (;;) {
    const output = await readFile(logFile, 'utf8');
    const [, url] = /is ready at (http:\S+)\n/.exec(output) ?? [];
    if (url) {
      return {
        url,
        pid: server.pid as number,
        async stop() {
          if (server.exitCode === null) server.kill('SIGTERM');
          await ended;
        },
      };
    }
    if (server.exitCode !== null || performance.now() > deadlineMs) {
      server.kill('SIGKILL');
      throw new Error(`the server did not start (exit ${server.exitCode}):\n${output}`);
    }
    await sleep(20);
  }
}

export async function runSql<Row extends object>(
  databaseUrl: string,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return (await client.query<Row>(text, values)).rows;
  } finally {
    await client.end();
  }
}
