import pg from 'pg';
import type { DatabaseAddress, DatabaseHost } from './connection-url.ts';
import { endClient } from './end-client.ts';
import { examineSession, isWritable, type Session } from './session.ts';
import { DatabaseUnavailable, isUnavailable } from './unavailable.ts';

type Options = { applicationName: string; queryTimeoutMs?: number };

export type Opened = { client: pg.Client; host: DatabaseHost; session: Session };

/** Connects to one server, writable or not. The caller ends the connection. */
export async function openClient(
  host: DatabaseHost,
  { connectTimeoutMs }: DatabaseAddress,
  { applicationName, queryTimeoutMs }: Options,
): Promise<Opened> {
  const client = new pg.Client({
    connectionString: host.connectionString,
    application_name: applicationName,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMs,
    ...(queryTimeoutMs !== undefined && { query_timeout: queryTimeoutMs }),
  });
  client.on('error', () => {}); // the running statement fails with the error
  try {
    await client.connect();
    const session = await examineSession(client, { settings: false, timeoutMs: connectTimeoutMs });
    return { client, host, session };
  } catch (error) {
    await endClient(client);
    throw error;
  }
}

/**
 * Connects to the first server in the list that accepts writes. As with libpq, a refused login (such as a wrong password)
 * ends the search; a server that is unreachable or read-only does not.
 */
export async function openWritable(address: DatabaseAddress, options: Options): Promise<Opened> {
  const tried: string[] = [];
  for (const host of address.hosts) {
    try {
      const opened = await openClient(host, address, options);
      if (isWritable(opened.session, address.target)) return opened;
      await endClient(opened.client);
      tried.push(`${host.label} is ${opened.session.isStandby ? 'a standby' : 'read-only'}`);
    } catch (error) {
      if (address.hosts.length === 1 || !isUnavailable(error)) throw error;
      const { message, code } = error as NodeJS.ErrnoException;
      tried.push(`${host.label}: ${message || code}`); // an AggregateError has no message
    }
  }
  throw new DatabaseUnavailable(`no database server accepts writes: ${tried.join('; ')}`);
}
