import type pg from 'pg';
import { createConnections, queryTimeoutMs } from './connections.ts';
import { createFullDisk, scratchFile } from './full-disk.ts';
import { createInFlight, isRead } from './in-flight.ts';
import { DatabaseUnavailable } from './unavailable.ts';

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

const diskFull = 'PostgreSQL’s disk is full';

export function openDatabase({ onAvailability, ...options }: Options): Database {
  const inFlight = createInFlight();
  const connections = createConnections({
    ...options,
    inFlight,
    onAvailability: (reason) => onAvailability?.(reason),
  });
  const { pool, availability, acquire, release } = connections;
  const fullDisk = createFullDisk({
    writeScratchFile: () =>
      transact((tx) => tx.query(scratchFile.statement), { begin: scratchFile.begin, willRead: true }),
    onChange: (isFull) => onAvailability?.(isFull ? diskFull : null),
  });

  /** Returns the error if the connection must not go back to the pool. */
  function brokenBy(client: pg.PoolClient, error: unknown): Error | undefined {
    fullDisk.notice(error);
    return connections.brokenBy(client, error);
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
      if (await connections.isUsable(client)) return;
      throw connections.refuseHost(client);
    } catch (error) {
      broken = brokenBy(client, error);
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
