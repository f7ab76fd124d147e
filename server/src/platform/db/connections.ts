import pg from 'pg';
import { createAvailability } from './availability.ts';
import { parseConnectionUrl } from './connection-url.ts';
import { dropClient } from './end-client.ts';
import type { createInFlight } from './in-flight.ts';
import { applicationName } from './schema-version.ts';
import { examineSession, isWritable } from './session.ts';
import { DatabaseUnavailable, isReadOnlyError, isServerGone } from './unavailable.ts';

// How long a caller waits for a connection, unless connect_timeout in the address is longer.
const minConnectTimeoutMs = 5_000;
export const queryTimeoutMs = 15_000;

type Options = {
  connectionString: string;
  poolSize: number;
  inFlight: ReturnType<typeof createInFlight>;
  onError(error: Error): void;
  onAvailability(reason: string | null): void;
};

/** Connections to the server that accepts writes. One that may be to another server is closed instead of used again. */
export function createConnections({
  connectionString,
  poolSize,
  inFlight,
  onError,
  onAvailability,
}: Options) {
  const address = parseConnectionUrl(connectionString);
  const connectTimeoutMs = Math.max(minConnectTimeoutMs, address.connectTimeoutMs);
  /** Incremented when the open connections may be to the wrong server. */
  let generation = 0;
  const generations = new WeakMap<object, number>();
  const isCurrent = (client: pg.PoolClient) => generations.get(client) === generation;
  const availability = createAvailability({
    address,
    inFlight,
    onChange: (closure) => onAvailability(closure?.reason ?? null),
    onSuspicion() {
      generation += 1;
      dropIdle();
    },
  });

  const pool = new pg.Pool({
    max: poolSize,
    // One connection always stays open, so that `migrate` can see this process.
    min: 1,
    // Called with `new`, so that each connection goes to the server that currently accepts writes.
    Client: function connectTo() {
      const client = new pg.Client({
        connectionString: availability.host().connectionString,
        application_name: applicationName(),
        keepAlive: true,
        connectionTimeoutMillis: address.connectTimeoutMs,
        // The server's own timeout is shorter (session.ts); this one covers a server that stopped answering.
        query_timeout: queryTimeoutMs,
        types: { getTypeParser },
      });
      generations.set(client, generation);
      return client;
    } as unknown as new () => pg.Client,
    connectionTimeoutMillis: connectTimeoutMs,
    async onConnect(client) {
      const session = await examineSession(client, { settings: true, timeoutMs: connectTimeoutMs });
      if (!isWritable(session, address.target)) {
        dropClient(client); // the pool reports this error only once the connection has closed
        throw new DatabaseUnavailable(
          `${availability.host().label} is ${session.isStandby ? 'a standby' : 'read-only'}`,
        );
      }
    },
  });
  pool.on('error', onError);
  // The pool removes its listener when it hands out a connection, and the caller adds one a turn later. Without this listener, a
  // connection that fails in between would crash the process; with it, the next statement fails.
  pool.on('connect', (client) => void client.on('error', () => {}));

  /** The only way to drop an idle connection is to check it out of the pool. */
  function dropIdle(): void {
    for (let left = pool.idleCount; left > 0; left--) pool.connect().then(release, () => {});
  }

  function release(client: pg.PoolClient, broken?: Error): void {
    const isSuspect = !isCurrent(client);
    client.release(broken ?? (isSuspect ? new Error('it may be connected to the wrong server') : undefined));
  }

  async function acquire(willRead: boolean): Promise<pg.PoolClient> {
    if (availability.closure()) await availability.pass(willRead);
    const before = generation;
    try {
      const client = await pool.connect();
      if (isCurrent(client)) return client;
      release(client); // it became suspect while it was being opened
    } catch (error) {
      const mayBeElsewhere =
        error instanceof DatabaseUnavailable || (address.hosts.length > 1 && isServerGone(error));
      if (!mayBeElsewhere) throw error;
      if (before === generation) availability.findServer((error as Error).message);
    }
    await availability.pass(willRead);
    return pool.connect();
  }

  /** Returns the error if the connection must not go back to the pool. A read-only error makes all connections suspect. */
  function brokenBy(client: pg.PoolClient, error: unknown): Error | undefined {
    if (!(error instanceof pg.DatabaseError)) return error as Error;
    if (!isReadOnlyError(error)) return undefined;
    refuseHost(client);
    return error;
  }

  /** The server of this connection turned out to be read-only. If that is news, looks for the one that is not. */
  function refuseHost(client: pg.PoolClient): DatabaseUnavailable {
    const refusal = new DatabaseUnavailable(`${availability.host().label} does not accept writes`);
    if (isCurrent(client)) availability.findServer(refusal.message);
    return refusal;
  }

  async function isUsable(client: pg.PoolClient): Promise<boolean> {
    const session = await examineSession(client, { settings: false, timeoutMs: connectTimeoutMs });
    return isWritable(session, address.target);
  }

  return { pool, availability, acquire, release, brokenBy, refuseHost, isUsable };
}

const int8 = 20;

function getTypeParser(oid: number, format?: 'text' | 'binary') {
  return oid === int8 ? parseSafeInteger : pg.types.getTypeParser(oid, format as 'text');
}

/** Byte counts and amounts stay below 2^53. A larger value is a bug, so it is not rounded. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a JavaScript number`);
  return value;
}
