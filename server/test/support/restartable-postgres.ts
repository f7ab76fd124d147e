import { openLink } from '../../../faults/src/deployment/link.ts';
import { createServer } from '../../../faults/src/deployment/postgres-server.ts';

export type RestartablePostgres = {
  /** Stays the same across restarts. */
  url: string;
  /** Bypasses the proxy, for the test's own queries. */
  directUrl(): string;
  start(): Promise<void>;
  /** `fast` ends sessions cleanly; `immediate` is a crash, and the next start replays the WAL. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  /** Cuts every connection mid-stream, as a network failure does. Returns how many. */
  dropConnections(): number;
  remove(): Promise<void>;
};

/** A separate PostgreSQL behind a proxy, since its socket path changes with every start. */
export async function startRestartablePostgres(): Promise<RestartablePostgres> {
  const server = await createServer();
  await server.start();
  const link = await openLink(server.url('simplane'), server.socketPath);
  return {
    url: link.url,
    directUrl: () => server.url('simplane'),
    start: server.start,
    stop: server.stop,
    dropConnections: link.cut,
    async remove() {
      await link.close();
      await server.remove();
    },
  };
}
