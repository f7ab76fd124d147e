import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/db/embedded/start.ts';

export type RestartablePostgres = {
  /** Stays the same over restarts. */
  url: string;
  /** Past the proxy, for the test's own questions. */
  directUrl(): string;
  start(): Promise<void>;
  /** `fast` ends sessions in order, `immediate` is a crash: the next start replays the log. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  /** As a network does it: both sides lose each other, in the middle of whatever was said. */
  dropConnections(): number;
  remove(): Promise<void>;
};

/** A PostgreSQL of one's own behind a proxy, since its socket is elsewhere after every start. */
export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const dataDir = await mkdtemp(join(tmpdir(), 'simplane-restarts-'));
  let postgres: EmbeddedPostgres | null = await startEmbeddedPostgres({ dataDir });
  const pairs = new Set<{ client: Socket; server: Socket }>();

  const proxy = createServer({ allowHalfOpen: true }, (client) => {
    if (!postgres) {
      client.on('error', () => {});
      client.destroy();
      return;
    }
    const server = connect({ path: socketOf(postgres), allowHalfOpen: true });
    const pair = { client, server };
    pairs.add(pair);
    client.pipe(server);
    server.pipe(client);
    for (const side of [client, server]) {
      side.on('error', () => {});
      side.on('close', () => {
        pairs.delete(pair);
        client.destroy();
        server.destroy();
      });
    }
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const { port } = proxy.address() as AddressInfo;

  async function stop(how: 'fast' | 'immediate'): Promise<void> {
    const running = postgres;
    postgres = null;
    if (how === 'fast' || !running) return running?.stop();
    const lock = await readFile(join(running.dataDir, 'postmaster.pid'), 'utf8');
    process.kill(Number.parseInt(lock, 10), 'SIGQUIT');
    await running.exited;
  }

  return {
    url: `postgresql://postgres@127.0.0.1:${port}/simplane?sslmode=disable`,
    directUrl: () => postgres?.connectionString ?? '',
    stop,
    async start() {
      postgres = await startEmbeddedPostgres({ dataDir });
    },
    dropConnections() {
      const { size } = pairs;
      for (const { client, server } of pairs) {
        client.resetAndDestroy();
        server.destroy();
      }
      return size;
    },
    async remove() {
      const closed = once(proxy, 'close');
      proxy.close();
      for (const { client } of pairs) client.destroy();
      await stop('fast');
      await closed;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

function socketOf({ connectionString }: EmbeddedPostgres): string {
  return `${new URL(connectionString).searchParams.get('host')}/.s.PGSQL.5432`;
}
