import { joinLinks, type Link, openLink } from './link.ts';
import { createServer, type PostgresServer } from './postgres-server.ts';
import { type ReplicatedPostgres, startReplicatedPostgres } from './replicated-postgres.ts';

/**
 * `single`, or a primary with a synchronous standby. Processes connect to one address that follows the current primary
 * (`pair`), or to the addresses of both servers (`pair-by-hosts`).
 */
export type Topology = 'single' | 'pair' | 'pair-by-hosts';

export type Postgres = {
  /** Creates an empty database, or a copy of one that has no connections. */
  createDatabase(name: string, template?: string): Promise<void>;
  /** A connection path that can be cut or held, and keeps its URL across restarts and failovers. */
  link(database: string): Promise<Link>;
  /** Queries the primary directly, unaffected by link faults. Throws while PostgreSQL is down. */
  query<Row extends object>(database: string, text: string, values?: unknown[]): Promise<Row[]>;
  start(): Promise<void>;
  /** `fast` closes sessions cleanly, `immediate` is a crash: the next start replays the WAL. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  remove(): Promise<void>;
  /** Throws for a single server. */
  pair(): ReplicatedPostgres;
};

// The commit time of an event decides which endpoints must get it.
const settings = { track_commit_timestamp: 'on', max_connections: '300' };

export async function startPostgres(topology: Topology = 'single'): Promise<Postgres> {
  const links = new Set<Link>();
  const { primary, pair, ...server } = await (topology === 'single' ? startSingle() : startPair());
  let removing: Promise<void> | null = null;

  async function remove(): Promise<void> {
    await Promise.all([...links].map((link) => link.close()));
    await server.remove();
  }

  async function open(database: string): Promise<Link> {
    const url = primary().url(database);
    if (topology !== 'pair-by-hosts') return openLink(url, () => primary().socketPath());
    return joinLinks(await Promise.all(pair().servers.map((one) => openLink(url, one.socketPath))));
  }

  return {
    async createDatabase(name, template) {
      const text = `create database ${name}${template ? ` template ${template}` : ''}`;
      await primary().query('postgres', text);
    },
    async link(database) {
      const link = await open(database);
      links.add(link);
      return link;
    },
    query: (database, text, values) => primary().query(database, text, values),
    start: server.start,
    stop: server.stop,
    pair,
    remove() {
      removing ??= remove();
      return removing;
    },
  };
}

type Running = Pick<Postgres, 'start' | 'stop' | 'remove' | 'pair'> & { primary(): PostgresServer };

async function startSingle(): Promise<Running> {
  const server = await createServer(settings);
  await server.start();
  return {
    ...server,
    primary: () => server,
    pair() {
      throw new Error('this PostgreSQL has no standby');
    },
  };
}

async function startPair(): Promise<Running> {
  const pair = await startReplicatedPostgres(settings);
  return {
    start: pair.startPrimary,
    stop: pair.stopPrimary,
    remove: pair.remove,
    primary: pair.primary,
    pair: () => pair,
  };
}
