import { randomBytes, randomUUID } from 'node:crypto';
import { createServer, type PostgresServer } from '../../../faults/src/deployment/postgres-server.ts';
import { call, type Reply } from './client.ts';
import { runCommand, type ServerProcess, spawnServer } from './process.ts';

/** A deployment of its own: a PostgreSQL that can replicate, and a real server. */
export type Cell = {
  label: string;
  url: string;
  key: string;
  env: Record<string, string>;
  server: ServerProcess;
  postgres: PostgresServer;
  query<Row extends object>(text: string, values?: unknown[]): Promise<Row[]>;
  stop(): Promise<void>;
};

// Cells that exchange accounts can read each other's secrets.
const encryptionKey = randomBytes(32).toString('base64');

export async function startCell(label: string): Promise<Cell> {
  const postgres = await createServer({
    ...{ wal_level: 'logical', max_wal_senders: '10', max_replication_slots: '30', max_connections: '60' },
    max_sync_workers_per_subscription: '4',
    // PostgreSQL waits as long between copies of tables: 5 s by default, six times for a move.
    wal_retrieve_retry_interval: '100ms',
  });
  await postgres.start();
  const key = `sp_test_${randomUUID()}`;
  const env = {
    DATABASE_URL: postgres.url('simplane'),
    SIMPLANE_CELL: label,
    SIMPLANE_ENCRYPTION_KEYS: encryptionKey,
    SIMPLANE_API_KEY: key,
    SIMPLANE_WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
  };
  const server = await spawnServer(env);
  return {
    ...{ label, url: server.url, key, env, server, postgres },
    query: (text, values) => postgres.query('simplane', text, values),
    async stop() {
      await server.end('SIGTERM');
      await postgres.remove();
    },
  };
}

/** Runs `accounts move`; `dieAt` as in `die-at-statement.mjs`. */
export function moveAccount(
  account: string,
  [from, to]: [Cell, Cell],
  options: { dieAt?: string; undo?: boolean } = {},
) {
  const args = ['accounts', 'move', account, '--to', to.env['DATABASE_URL'] as string];
  const preload = new URL('./die-at-statement.mjs', import.meta.url).pathname;
  return runCommand(
    [...args, ...(options.undo ? ['--undo'] : [])],
    { ...from.env, ...(options.dieAt !== undefined && { DIE_AT: options.dieAt }) },
    options.dieAt === undefined ? {} : { preload },
  );
}

export type Customer = {
  account: string;
  accountUuid: string;
  key: string;
  /** Sends it where the customer is, and again as an answer asks for it. */
  call(method: string, path: string, request?: Parameters<typeof call>[3]): Promise<Reply>;
  /** How many answers were 503. */
  refusals(): number;
};

/** A customer whose client follows 421 to the named cell, and tries again after a 503. */
export async function newCustomer(home: Cell, cells: readonly Cell[]): Promise<Customer> {
  const created = await runCommand(['accounts', 'create', '--name', 'Travel app', '--json'], home.env);
  const account: string = JSON.parse(created.stdout)[0].id;
  const scopes = 'read,write,network,admin';
  const made = await runCommand(
    ['keys', 'create', '--account', account, '--scopes', scopes, '--json'],
    home.env,
  );
  const { key } = JSON.parse(made.stdout)[0] as { key: string };
  const [row] = await home.query<{ id: string }>(
    `select id from accounts where name = 'Travel app' order by id desc limit 1`,
  );
  let at = home;
  let refusals = 0;
  return {
    ...{ account, key, accountUuid: row?.id as string },
    async call(method, path, request = {}) {
      for (;;) {
        const reply = await call({ url: at.url, key }, method, path, request);
        if (reply.status === 421) at = cells.find(({ label }) => label === reply.json.error.cell) as Cell;
        else if (reply.status === 503) {
          refusals += 1;
          await new Promise((resolve) => setTimeout(resolve, Number(reply.headers.get('retry-after')) * 100));
        } else return reply;
      }
    },
    refusals: () => refusals,
  };
}
