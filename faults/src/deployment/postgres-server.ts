import { chown, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@simplane/server/embedded-postgres';
import pg from 'pg';
import { killProcessTree } from './kill-process-tree.ts';

/** `fast` closes sessions cleanly, `immediate` crashes PostgreSQL, `kill` sends SIGKILL to all its processes. */
export type StopMode = 'fast' | 'immediate' | 'kill';

/** One PostgreSQL in a temporary folder that can be stopped, crashed and started again. */
export type PostgresServer = {
  dataDir: string;
  isRunning(): boolean;
  /** Direct connection URL with credentials. Throws while it is down. */
  url(database: string): string;
  /** Changes at every start; null while it is down. */
  socketPath(): string | null;
  /** Queries the server directly, on pooled connections. Throws while it is down. */
  query<Row extends object>(database: string, text: string, values?: unknown[]): Promise<Row[]>;
  start(): Promise<void>;
  stop(mode: StopMode): Promise<void>;
  remove(): Promise<void>;
};

const nobody = 65_534;

/** Creates only the folder; `start` creates the cluster if there is none. */
export async function createServer(settings: Record<string, string> = {}): Promise<PostgresServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-postgres-'));
  // A folder's owner runs its PostgreSQL. A standby must be able to enter the folder of its primary's socket.
  if (process.getuid?.() === 0) await chown(dataDir, nobody, nobody);
  let running: EmbeddedPostgres | null = null;
  const pools = new Map<string, pg.Pool>();

  function runningServer(): EmbeddedPostgres {
    if (!running) throw new Error('PostgreSQL is down');
    return running;
  }

  function url(database: string): string {
    const address = new URL(runningServer().connectionString);
    address.pathname = `/${database}`;
    return address.href;
  }

  /** Pooled, because conditions are polled and a new session costs more than a query. */
  function poolOf(database: string): pg.Pool {
    const known = pools.get(database);
    if (known) return known;
    const pool = new pg.Pool({ connectionString: url(database), max: 2, query_timeout: 20_000 });
    pool.on('error', () => {}); // PostgreSQL crashed while idle; the next query opens a new connection
    pools.set(database, pool);
    return pool;
  }

  async function stop(mode: StopMode): Promise<void> {
    const stopping = running;
    running = null;
    const open = [...pools.values()];
    pools.clear();
    if (!stopping) return;
    if (mode === 'fast') {
      await Promise.all([...open.map((pool) => pool.end()), stopping.stop()]);
      return;
    }
    const pid = Number.parseInt(await readFile(join(stopping.dataDir, 'postmaster.pid'), 'utf8'), 10);
    if (mode === 'immediate') process.kill(pid, 'SIGQUIT');
    else await killProcessTree(pid);
    await stopping.exited;
    await Promise.all(open.map((pool) => pool.end()));
  }

  return {
    dataDir,
    isRunning: () => running !== null,
    url,
    socketPath: () =>
      running && `${new URL(running.connectionString).searchParams.get('host')}/.s.PGSQL.5432`,
    async query<Row extends object>(database: string, text: string, values: unknown[] = []) {
      return (await poolOf(database).query<Row>(text, values)).rows;
    },
    async start() {
      running = await startEmbeddedPostgres({ dataDir, settings });
    },
    stop,
    async remove() {
      await stop('fast');
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
