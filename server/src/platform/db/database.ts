import pg from 'pg';
import { createAvailability } from './availability.ts';
import { parseConnectionUrl } from './connection-url.ts';
import { dropClient } from './end-client.ts';
import { createFullDisk, scratchFile } from './full-disk.ts';
import { createInFlight, isRead } from './in-flight.ts';
import { applicationName } from './schema-version.ts';
import { examineSession, isWritable } from './session.ts';
import { DatabaseUnavailable, isReadOnlyError, isServerGone } from './unavailable.ts';

/** A named statement, prepared once per connection. The name must be unique in the process; its text never changes. */
type Statement = { name: string; text: string };

export type Queryable = {
  query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>;
};

export type Database = Queryable & {
  /** Runs a read that the server ends after `timeoutMs`. In a transaction, so that it holds for this statement only, behind a pooler too. */
  queryWithin<Row extends object>(
    timeoutMs: number,
    statement: Statement,
    values?: unknown[],
  ): Promise<Row[]>;
  /** Commits if `work` returns, rolls back if it throws. Never call another system inside a transaction. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Throws if no server that may be used answers soon, not even to reads. */
  ping(): Promise<void>;
  /** Why writes fail now, as far as this process has noticed; null if they do not. */
  writeTrouble(): string | null;
  pool: pg.Pool;
  end(): Promise<void>;
  /** Set if this is an account's share: the database itself, for work that accounts do together. */
  unlimited?: Database;
};

type Options = {
  connectionString: string;
  poolSize: number;
  onError(error: Error): void;
  /** Called with the reason if the database is read-only, full or unavailable; with null when it recovers. */
  onAvailability?(reason: string | null): void;
};

// How long a caller waits for a connection, unless connect_timeout in the address is longer.
const minConnectTimeoutMs = 5_000;
const queryTimeoutMs = 15_000;
const diskFull = 'PostgreSQL’s disk is full';

export function openDatabase(options: Options): Database {
  const { poolSize, onError, onAvailability } = options;
  const address = parseConnectionUrl(options.connectionString);
  const connectTimeoutMs = Math.max(minConnectTimeoutMs, address.connectTimeoutMs);
  const inFlight = createInFlight();
  /** Incremented when the open connections may be to the wrong server. */
  let generation = 0;
  const generations = new WeakMap<object, number>();
  const availability = createAvailability({
    address,
    inFlight,
    onChange: (closure) => onAvailability?.(closure?.reason ?? null),
    onSuspicion() {
      generation += 1;
      dropIdle();
    },
  });
  const fullDisk = createFullDisk({
    writeScratchFile: () =>
      transact((tx) => tx.query(scratchFile.statement), { begin: scratchFile.begin, willRead: true }),
    onChange: (isFull) => onAvailability?.(isFull ? diskFull : null),
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
    const isSuspect = generations.get(client) !== generation;
    client.release(broken ?? (isSuspect ? new Error('it may be connected to the wrong server') : undefined));
  }

  async function acquire(willRead: boolean): Promise<pg.PoolClient> {
    if (availability.closure()) await availability.pass(willRead);
    const before = generation;
    try {
      const client = await pool.connect();
      if (generations.get(client) === generation) return client;
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
    fullDisk.notice(error);
    if (!(error instanceof pg.DatabaseError)) return error as Error;
    if (!isReadOnlyError(error)) return undefined;
    if (generations.get(client) === generation) {
      availability.findServer(`${availability.host().label} does not accept writes`);
    }
    return error;
  }

  /**
   * Runs a statement outside a transaction. PostgreSQL reports an error before it has released the statement's locks, so an
   * immediate retry on another connection would hit them. The error is thrown only once the connection is ready again.
   */
  async function runAlone<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]> {
    const willRead = isRead(statement);
    const client = await acquire(willRead);
    const flight = inFlight.start(client, willRead);
    let broken: Error | undefined;
    try {
      return await run(client, statement, values);
    } catch (error) {
      broken = brokenBy(client, error);
      if (!broken) {
        await client.query('').catch((lost: Error) => {
          broken = lost;
        });
      }
      throw error;
    } finally {
      inFlight.end(flight);
      release(client, broken);
    }
  }

  async function transact<T>(
    work: (tx: Queryable) => Promise<T>,
    { begin, willRead }: { begin: string; willRead: boolean },
  ): Promise<T> {
    const client = await acquire(willRead);
    const flight = inFlight.start(client, willRead);
    let broken: Error | undefined;
    const onLost = (error: Error) => {
      broken = error;
    };
    client.on('error', onLost);
    /** Only errors of statements, not of the work between them, can mean a broken connection. */
    async function watched<Result>(statement: Promise<Result>): Promise<Result> {
      try {
        return await statement;
      } catch (error) {
        broken ??= brokenBy(client, error);
        throw error;
      }
    }
    try {
      await watched(client.query(begin));
      const result = await work({ query: (statement, values) => watched(run(client, statement, values)) });
      await watched(client.query('commit'));
      return result;
    } catch (error) {
      // After a commit that hangs, a rollback would hang too.
      if (!broken) {
        await client.query('rollback').catch((failed: Error) => {
          broken = failed; // so that the pool drops it
        });
      }
      throw error;
    } finally {
      client.off('error', onLost);
      inFlight.end(flight);
      release(client, broken);
    }
  }

  async function ping(): Promise<void> {
    const closure = availability.closure();
    if (closure?.admits === 'nothing') throw new DatabaseUnavailable(closure.reason);
    const client = await acquire(true);
    let broken: Error | undefined;
    try {
      const session = await examineSession(client, { settings: false, timeoutMs: connectTimeoutMs });
      if (isWritable(session, address.target)) return;
      broken = new DatabaseUnavailable(`${availability.host().label} does not accept writes`);
      if (generations.get(client) === generation) availability.findServer(broken.message);
      throw broken;
    } catch (error) {
      broken ??= brokenBy(client, error);
      throw error;
    } finally {
      release(client, broken);
    }
  }

  return {
    pool,
    query: runAlone,
    queryWithin: (timeoutMs, statement, values) =>
      transact((tx) => tx.query(statement, values), {
        begin: `begin; set local statement_timeout = ${timeoutMs}`,
        willRead: true,
      }),
    transaction: (work) => transact(work, { begin: 'begin', willRead: false }),
    ping,
    writeTrouble() {
      const closure = availability.closure();
      // Whoever asks may be told: a reason that admits nothing names the host.
      if (closure) return closure.admits === 'reads' ? closure.reason : 'no server accepts writes';
      return fullDisk.isFull() ? diskFull : null;
    },
    end() {
      availability.stop();
      fullDisk.stop();
      return pool.end();
    },
  };
}

async function run<Row extends object>(
  client: pg.PoolClient,
  { name, text }: Statement,
  values: unknown[] = [],
): Promise<Row[]> {
  try {
    const { rows } = await client.query<Row>({ name, text, values });
    return rows;
  } catch (error) {
    if (error instanceof Error && error.message === 'Query read timeout') {
      throw new DatabaseUnavailable(
        `the database did not answer a statement within ${queryTimeoutMs / 1_000} s`,
      );
    }
    throw error;
  }
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
