import { type Link, openLink } from './link.ts';
import { createServer } from './postgres-server.ts';

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
  const server = await createServer(settings);
  await server.start();
  const links = new Set<Link>();
  let removing: Promise<void> | null = null;

  async function remove(): Promise<void> {
    await Promise.all([...links].map((link) => link.close()));
    await server.remove();
  }

  return {
    async createDatabase(name, template) {
      await server.query('postgres', `create database ${name}${template ? ` template ${template}` : ''}`);
    },
    async link(database) {
      const link = await openLink(server.url(database), server.socketPath);
      links.add(link);
      return link;
    },
    query: server.query,
    start: server.start,
    stop: server.stop,
    remove() {
      removing ??= remove();
      return removing;
    },
  };
}
