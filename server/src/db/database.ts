import pg from 'pg';

/** A named statement: prepared once a connection. The name must be unique in the process; the text never varies. */
type Statement = { name: string; text: string };

export type Queryable = {
  query<Row extends object>(statement: Statement, values?: unknown[]): Promise<Row[]>;
};

export type Database = Queryable & {
  /** Commits when `work` returns, rolls back when it throws. Never keep one open across a call to another system. */
  transaction<T>(work: (tx: Queryable) => Promise<T>): Promise<T>;
  /** Throws when the database does not answer soon. */
  ping(): Promise<void>;
  pool: pg.Pool;
  end(): Promise<void>;
};

type Options = { connectionString: string; poolSize: number; onError: (error: Error) => void };

export function openDatabase({ connectionString, poolSize, onError }: Options): Database {
  const pool = new pg.Pool({
    connectionString,
    max: poolSize,
    application_name: 'simplane',
    // No statement of ours should read a table from end to end, however small the planner believes it to be: plans are kept
    // while tables grow.
    options: '-c enable_seqscan=off',
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    // The server gives up first and says why; the client's own bound is for a server that no longer answers.
    statement_timeout: 10_000,
    query_timeout: 15_000,
    idle_in_transaction_session_timeout: 15_000,
    types: { getTypeParser },
  });
  pool.on('error', onError);
  // The pool stops listening when it hands a connection out, and who gets it listens a turn later. A connection that ends
  // in between, in the same packet as its last answer, would end the process; so it fails with the next statement.
  pool.on('connect', (client) => void client.on('error', () => {}));

  return {
    pool,
    query: (statement, values) => runAlone(pool, statement, values),
    transaction: (work) => transact(pool, work),
    ping: async () => void (await runAlone(pool, { name: 'ping', text: 'select 1' })),
    end: () => pool.end(),
  };
}

async function run<Row extends object>(
  client: pg.PoolClient,
  { name, text }: Statement,
  values: unknown[] = [],
): Promise<Row[]> {
  const { rows } = await client.query<Row>({ name, text, values });
  return rows;
}

/**
 * A statement by itself. PostgreSQL tells of an error before it has ended the transaction: whoever asks again at once, on
 * another connection, would meet its locks. So an error is passed on when the connection is ready again.
 */
async function runAlone<Row extends object>(
  pool: pg.Pool,
  statement: Statement,
  values?: unknown[],
): Promise<Row[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    return await run(client, statement, values);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) broken = error as Error;
    else {
      await client.query('').catch((lost: Error) => {
        broken = lost;
      });
    }
    throw error;
  } finally {
    client.release(broken);
  }
}

async function transact<T>(pool: pg.Pool, work: (tx: Queryable) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onLost = (error: Error) => {
    broken = error;
  };
  client.on('error', onLost);
  try {
    await client.query('begin');
    const result = await work({ query: (statement, values) => run(client, statement, values) });
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch((rollbackError: Error) => {
      broken ??= rollbackError; // the connection is gone: the pool must not hand it out again
    });
    throw error;
  } finally {
    client.off('error', onLost);
    client.release(broken);
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
