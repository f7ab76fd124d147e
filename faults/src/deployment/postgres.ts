import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@simplane/server/embedded-postgres';
import pg from 'pg';
import { type Link, openLink } from './link.ts';

export type Postgres = {
  /** Empty, or a copy of another that nobody is connected to. */
  createDatabase(name: string, template?: string): Promise<void>;
  /** A way to it that can be cut and held up, and that stays the same over restarts. */
  link(database: string): Promise<Link>;
  /** The checker's own way, past every fault. Throws while PostgreSQL is down. */
  query<Row extends object>(database: string, text: string, values?: unknown[]): Promise<Row[]>;
  start(): Promise<void>;
  /** `fast` ends sessions in order, `immediate` is a crash: the next start replays the log. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  remove(): Promise<void>;
};

// When each event was committed tells which endpoints it had to be written for.
const settings = { track_commit_timestamp: 'on', max_connections: '300' };

export async function startPostgres(): Promise<Postgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-faults-'));
  let running: EmbeddedPostgres | null = await startEmbeddedPostgres({ dataDir, settings });
  const links = new Set<Link>();
  const pools = new Map<string, pg.Pool>();

  function addressOf(database: string): string {
    if (!running) throw new Error('PostgreSQL is down');
    const url = new URL(running.connectionString);
    url.pathname = `/${database}`;
    return url.href;
  }

  /** Connections are kept: conditions are polled, and a session costs more than a query. */
  function poolOf(database: string): pg.Pool {
    const known = pools.get(database);
    if (known) return known;
    const pool = new pg.Pool({ connectionString: addressOf(database), max: 2, query_timeout: 20_000 });
    pool.on('error', () => {}); // a crash between two questions; the next one opens another connection
    pools.set(database, pool);
    return pool;
  }

  async function query<Row extends object>(database: string, text: string, values: unknown[] = []) {
    return (await poolOf(database).query<Row>(text, values)).rows;
  }

  async function stop(how: 'fast' | 'immediate'): Promise<void> {
    const ending = running;
    running = null;
    const open = [...pools.values()];
    pools.clear();
    await Promise.all(open.map((pool) => pool.end()));
    if (how === 'fast' || !ending) return ending?.stop();
    const lock = await readFile(join(ending.dataDir, 'postmaster.pid'), 'utf8');
    process.kill(Number.parseInt(lock, 10), 'SIGQUIT');
    await ending.exited;
  }

  let removing: Promise<void> | null = null;

  async function remove(): Promise<void> {
    await Promise.all([...links].map((link) => link.close()));
    await stop('fast');
    await rm(dataDir, { recursive: true, force: true });
  }

  return {
    async createDatabase(name, template) {
      await query('postgres', `create database ${name}${template ? ` template ${template}` : ''}`);
    },
    async link(database) {
      const link = await openLink(database, () => (running ? socketOf(running) : null));
      links.add(link);
      return link;
    },
    query,
    async start() {
      running = await startEmbeddedPostgres({ dataDir, settings });
    },
    stop,
    remove() {
      removing ??= remove();
      return removing;
    },
  };
}

function socketOf({ connectionString }: EmbeddedPostgres): string {
  return `${new URL(connectionString).searchParams.get('host')}/.s.PGSQL.5432`;
}
