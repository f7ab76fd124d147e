import { openLink } from '../../../faults/src/deployment/link.ts';
import { createServer } from '../../../faults/src/deployment/postgres-server.ts';

export type RestartablePostgres = {
  /** Stays the same over restarts. */
  url: string;
  /** Past the proxy, for the test's own questions. */
  directUrl(): string;
  start(): Promise<void>;
  /** `fast` ends sessions in order, `immediate` is a crash: the next start replays the log. */
  stop(how: 'fast' | 'immediate'): Promise<void>;
  /** As a network does it: both sides lose each other, in the middle of whatever was said. Returns how many. */
  dropConnections(): number;
  remove(): Promise<void>;
};

/** A PostgreSQL of one's own behind a proxy, since its socket is elsewhere after every start. */
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
