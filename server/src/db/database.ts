import pg from 'pg';
import { createAvailability } from './availability.ts';
import { parseConnectionUrl } from './connection-url.ts';
import { dropClient } from './end-client.ts';
import { createInFlight, isRead } from './in-flight.ts';
import { applicationName } from './schema-version.ts';
import { examineSession, isWritable } from './session.ts';
import { DatabaseUnavailable, isReadOnlyError, isServerGone } from './unavailable.ts';

/** A named statement: prepared once a connection. The name must be unique in the process; the text never varies. */
type Statement = { name: string; text: string };

export type Queryable = {
  query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>;
};

export type Database = Queryable & {
  /** Commits when `work` returns, rolls back when it throws. Never keep one open across a call to another system. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Throws when the database does not answer soon, or takes no writes. */
  ping(): Promise<void>;
  pool: pg.Pool;
  end(): Promise<void>;
};

type Options = {
  connectionString: string;
  poolSize: number;
  onError(error: Error): void;
  /** The database takes no writes, or nothing at all, for this reason; null when it does again. */
  onAvailability?(reason: string | null): void;
};

const connectTimeoutMs = 5_000;
const queryTimeoutMs = 15_000;

export function openDatabase(options: Options): Database {
  const { poolSize, onError, onAvailability } = options;
  const address = parseConnectionUrl(options.connectionString);
  const inFlight = createInFlight();
  /** Raised when connections opened so far may lead to the wrong server. */
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

  const pool = new pg.Pool({
    max: poolSize,
    // One stays open for as long as the process lives, so that `migrate` can see it.
    min: 1,
    // Called with `new`: each connection goes where writes are taken at that time.
    Client: function connectTo() {
      const client = new pg.Client({
        connectionString: availability.host().connectionString,
        application_name: applicationName(),
        keepAlive: true,
        connectionTimeoutMillis: Math.min(connectTimeoutMs, address.connectTimeoutMs),
        // The server's own bound is shorter (session.ts); this one is for a server that no longer answers.
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
        dropClient(client); // the pool tells of the refusal when the connection has ended, whenever that is
        throw new DatabaseUnavailable(
          `${availability.host().label} is ${session.isStandby ? 'a standby' : 'read-only'}`,
        );
      }
    },
  });
  pool.on('error', onError);
  // The pool stops listening when it hands a connection out, and who gets it listens a turn later. A connection that ends
  // in between, in the same packet as its last answer, would end the process; so it fails with the next statement.
  pool.on('connect', (client) => void client.on('error', () => {}));

  /** The pool has no way to drop what is idle but to take it out. */
  function dropIdle(): void {
    for (let left = pool.idleCount; left > 0; left--) pool.connect().then(release, () => {});
  }

  function release(client: pg.PoolClient, broken?: Error): void {
    const isSuspect = generations.get(client) !== generation;
    client.release(broken ?? (isSuspect ? new Error('it may lead to the wrong server') : undefined));
  }

  async function acquire(willRead: boolean): Promise<pg.PoolClient> {
    if (availability.closure()) await availability.pass(willRead);
    const before = generation;
    try {
      const client = await pool.connect();
      if (generations.get(client) === generation) return client;
      release(client); // it became suspect while we waited for it
    } catch (error) {
      const isElsewhere =
        error instanceof DatabaseUnavailable || (address.hosts.length > 1 && isServerGone(error));
      if (!isElsewhere) throw error;
      if (before === generation) availability.findServer((error as Error).message);
    }
    await availability.pass(willRead);
    return pool.connect();
  }

  /** A connection whose server takes no writes must not go back into the pool, and its siblings lead to the same server. */
  function judge(client: pg.PoolClient, error: unknown): Error | undefined {
    if (!(error instanceof pg.DatabaseError)) return error as Error;
    if (!isReadOnlyError(error)) return undefined;
    if (generations.get(client) === generation) {
      availability.findServer(`${availability.host().label} takes no writes`);
    }
    return error;
  }

  /**
   * A statement by itself. PostgreSQL tells of an error before it has ended the transaction: whoever asks again at once, on
   * another connection, would meet its locks. So an error is passed on when the connection is ready again.
   */
  async function runAlone<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]> {
    const willRead = isRead(statement);
    const client = await acquire(willRead);
    const flight = inFlight.start(client, willRead);
    let broken: Error | undefined;
    try {
      return await run(client, statement, values);
    } catch (error) {
      broken = judge(client, error);
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

  async function transact<T>(work: (tx: Queryable) => Promise<T>): Promise<T> {
    const client = await acquire(false);
    const flight = inFlight.start(client, false);
    let broken: Error | undefined;
    const onLost = (error: Error) => {
      broken = error;
    };
    client.on('error', onLost);
    /** What fails here, and not in the work between statements, tells of the connection. */
    async function watched<Result>(statement: Promise<Result>): Promise<Result> {
      try {
        return await statement;
      } catch (error) {
        broken ??= judge(client, error);
        throw error;
      }
    }
    try {
      await watched(client.query('begin'));
      const result = await work({ query: (statement, values) => watched(run(client, statement, values)) });
      await watched(client.query('commit'));
      return result;
    } catch (error) {
      // Behind a commit that hangs, a rollback would only hang as well.
      if (!broken) {
        await client.query('rollback').catch((failed: Error) => {
          broken = failed; // the pool must not hand it out again
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
    if (closure) throw new DatabaseUnavailable(closure.reason);
    const client = await acquire(true);
    let broken: Error | undefined;
    try {
      const session = await examineSession(client, { settings: false, timeoutMs: connectTimeoutMs });
      if (isWritable(session, address.target)) return;
      broken = new DatabaseUnavailable(`${availability.host().label} takes no writes`);
      if (generations.get(client) === generation) availability.findServer(broken.message);
      throw broken;
    } catch (error) {
      broken ??= judge(client, error);
      throw error;
    } finally {
      release(client, broken);
    }
  }

  return {
    pool,
    query: runAlone,
    transaction: transact,
    ping,
    end() {
      availability.stop();
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

/** Counts of bytes and money stay below 2^53; one that does not is a bug, not a number to round. */
function parseSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} does not fit a JavaScript number`);
  return value;
}
