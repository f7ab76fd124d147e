import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer as createSocket } from 'node:net';
import { type Link, openLink } from '../deployment/link.ts';
import { createServer, type PostgresServer } from '../deployment/postgres-server.ts';
import {
  createProcess,
  runOperatorCommand,
  type ServerProcess,
  thisRelease,
} from '../deployment/processes.ts';
import type { History } from '../history/history.ts';

/** A deployment of its own behind the router: a PostgreSQL and a server, each of which can be killed. */
export type Cell = {
  name: string;
  label: string | null;
  port: number;
  env: Record<string, string>;
  postgres: PostgresServer;
  link: Link;
  /** An operator's key for the other cell. */
  peerKey: string;
  command<T>(...args: string[]): Promise<T>;
};

/** `label` is null for the cell that was there first. The server starts later, when all addresses are known. */
export async function prepareCell(
  name: string,
  label: string | null,
  given: Record<string, string>,
): Promise<Cell> {
  const postgres = await createServer({
    ...{ wal_level: 'logical', max_wal_senders: '10', max_replication_slots: '30', max_connections: '100' },
    track_commit_timestamp: 'on',
  });
  await postgres.start();
  const link = await openLink(postgres.url('simplane'), postgres.socketPath);
  const env = { ...given, DATABASE_URL: link.url, ...(label !== null && { SIMPLANE_CELL: label }) };
  const command = async <T>(...args: string[]) => {
    const [first] = await runOperatorCommand<T[]>(thisRelease, args, env);
    return first as T;
  };
  const scopes = 'operator,operator_write';
  const { key } = await command<{ key: string }>('keys', 'create', '--name', 'cells', '--scopes', scopes);
  return { ...{ name, label, env, postgres, link, command }, port: await freePort(), peerKey: key };
}

/** With the addresses of all cells, each with its key. */
export function createServerOf(cell: Cell, cells: readonly Cell[], history: History): ServerProcess {
  const addresses = cells.map(({ peerKey, port }) => `http://:${peerKey}@127.0.0.1:${port}`);
  const env = { ...cell.env, PORT: String(cell.port), SIMPLANE_CELLS: addresses.join(',') };
  return createProcess(history, { name: `all-${cell.name}`, env, preloads: [], release: thisRelease });
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
