import { randomUUID } from 'node:crypto';
import { parseConnectionUrl } from './connection-url.ts';
import type { Database } from './database.ts';
import { endClient } from './end-client.ts';
import { openClient, openWritable } from './open-client.ts';
import { applicationName } from './schema-version.ts';
import { one, single } from './statement.ts';

export type ServerState = {
  version: string;
  database_now: Date;
  fsync: string;
  synchronous_commit: string;
  full_page_writes: string;
  max_connections: number;
  connections: number;
};

const readState = one<ServerState>(
  'server_state',
)`select current_setting('server_version') as version, clock_timestamp() as database_now,
                  current_setting('fsync') as fsync, current_setting('synchronous_commit') as synchronous_commit,
                  current_setting('full_page_writes') as full_page_writes,
                  current_setting('max_connections')::int as max_connections,
                  (select count(*)::int from pg_stat_activity) as connections`;

/** The server's version, durability settings, clock and connections, for `doctor`. */
export async function readServerState(db: Database): Promise<ServerState> {
  return (await readState(db)) as ServerState;
}

export type HostState = { label: string } & (
  | { version: string; isStandby: boolean; isReadOnly: boolean }
  | { unreachable: string }
);

/** Returns the state of each server in the connection string, in its order. */
export async function readHostStates(connectionString: string): Promise<HostState[]> {
  const address = parseConnectionUrl(connectionString);
  const options = { applicationName: applicationName('check'), queryTimeoutMs: address.connectTimeoutMs };
  return Promise.all(
    address.hosts.map(async (host) => {
      try {
        const { client, session } = await openClient(host, address, options);
        const { rows } = await client.query<{ version: string }>(
          `select current_setting('server_version') as version`,
        );
        await endClient(client);
        const { isStandby, isReadOnly } = session;
        return { label: host.label, version: rows[0]?.version ?? '', isStandby, isReadOnly };
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        return { label: host.label, unreachable: message || (code ?? 'unknown') };
      }
    }),
  );
}

const timeoutMs = 3_000;

/** Whether a connection to this URL receives notifications sent in the database. Throws if it cannot connect. */
export async function receivesNotifications(connectionString: string, db: Database): Promise<boolean> {
  const channel = `simplane_${randomUUID().replaceAll('-', '')}`;
  const { client } = await openWritable(parseConnectionUrl(connectionString), {
    applicationName: applicationName('check'),
    queryTimeoutMs: timeoutMs,
  });
  let timer: NodeJS.Timeout | undefined;
  try {
    const received = new Promise<boolean>((resolve) => {
      client.on('notification', () => resolve(true));
      timer = setTimeout(resolve, timeoutMs, false);
    });
    await client.query(`listen ${channel}`);
    await db.pool.query('select pg_notify($1, $2)', [channel, '']);
    return await received;
  } finally {
    clearTimeout(timer);
    await endClient(client);
  }
}

/** Worker processes that are connected to this database. Each has a connection for signals; not if it is pooled. */
export const countWorkers = single<number>('workers_count')`
select count(*)::int as count
from pg_stat_activity
where datname = current_database()
  and application_name ~ '^simplane/\\d+ signals$'`;
