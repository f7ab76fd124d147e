import { randomBytes, randomUUID } from 'node:crypto';
import { idPrefixes } from '@simplane/contract';
import { createServer, type PostgresServer } from '../../../faults/src/deployment/postgres-server.ts';
import { openAccount } from '../../src/accounts/create-account.ts';
import { issueKey } from '../../src/accounts/issue-key.ts';
import { withDatabase } from '../../src/commands/with-database.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { idOfUuid } from '../../src/platform/ids/uuid.ts';
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
  // As the commands do that make an account and a key, without two processes.
  const { accountUuid, key } = await withDatabase(readConfig(home.env).config, ({ db, ...author }) =>
    db.transaction(async (tx) => {
      const row = await openAccount(tx, author, { name: 'Travel app' });
      const wanted = { accountUuid: row.id, name: 'All', expiresAt: null, allowedCidrs: [] };
      const issued = await issueKey(tx, author, { ...wanted, scopes: ['read', 'write', 'network', 'admin'] });
      return { accountUuid: row.id, key: issued.key };
    }),
  );
  let at = home;
  let refusals = 0;
  return {
    ...{ account: idOfUuid(idPrefixes.account, accountUuid), key, accountUuid },
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
