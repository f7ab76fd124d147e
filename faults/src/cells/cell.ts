import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer as createSocket } from 'node:net';
import { openLink } from '../deployment/link.ts';
import { createServer, type PostgresServer } from '../deployment/postgres-server.ts';
import { thisRelease } from '../deployment/processes.ts';

/** A deployment of its own behind the router: a PostgreSQL and a server, each of which can be killed. */
export type Cell = {
  name: string;
  port: number;
  env: Record<string, string>;
  postgres: PostgresServer;
  killServer(): Promise<void>;
  killPostgres(): Promise<void>;
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
};

const endWithParent = new URL('../deployment/end-with-parent.js', import.meta.url).href;
// Cells that exchange accounts can read each other's secrets.
const encryptionKey = Buffer.alloc(32, 'cells').toString('base64');

/** `label` is null for the cell that was there first. */
export async function startCell(name: string, label: string | null): Promise<Cell> {
  const postgres = await createServer({
    ...{ wal_level: 'logical', max_wal_senders: '10', max_replication_slots: '30', max_connections: '100' },
  });
  await postgres.start();
  const link = await openLink(postgres.url('simplane'), postgres.socketPath);
  const port = await freePort();
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...{ HOST: '127.0.0.1', PORT: String(port), SIMPLANE_METRICS_PORT: '0' },
    DATABASE_URL: link.url,
    SIMPLANE_ENCRYPTION_KEYS: encryptionKey,
    SIMPLANE_TRUSTED_PROXIES: '127.0.0.1/32',
    ...(label !== null && { SIMPLANE_CELL: label }),
  };
  let server = await serve(env);
  return {
    ...{ name, port, env, postgres },
    async killServer() {
      const killed = once(server, 'close');
      server.kill('SIGKILL');
      await killed;
      server = await serve(env);
    },
    async killPostgres() {
      await postgres.stop('kill');
      await postgres.start();
    },
    query: (text, values) => postgres.query('simplane', text, values),
    async stop() {
      const stopped = once(server, 'close');
      server.kill('SIGTERM');
      await stopped;
      await link.close();
      await postgres.remove();
    },
  };
}

async function serve(env: Record<string, string>): Promise<ChildProcess> {
  const server = spawn(process.execPath, ['--import', endWithParent, thisRelease.server, 'serve'], {
    ...{ env, stdio: ['pipe', 'pipe', 'inherit'] },
  });
  let output = '';
  await new Promise<void>((resolve, reject) => {
    server.stdout?.on('data', (chunk: Buffer) => {
      output = (output + chunk).slice(-5_000);
      if (output.includes('is ready at ')) resolve();
    });
    server.once('close', () => reject(new Error(`the server ended:\n${output}`)));
  });
  return server;
}

/** Chosen before the server starts, so that the router finds it there after each kill. */
export async function freePort(): Promise<number> {
  const socket = createSocket();
  socket.listen(0, '127.0.0.1');
  await once(socket, 'listening');
  const { port } = socket.address() as AddressInfo;
  socket.close();
  await once(socket, 'close');
  return port;
}
