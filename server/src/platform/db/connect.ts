import { parseConnectionUrl } from './connection-url.ts';
import { type Database, openDatabase } from './database.ts';
import { connectToRunning, type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/start.ts';
import { examinePooler } from './pooler.ts';
import { DatabaseUnavailable, isUnavailable } from './unavailable.ts';

const minimumMajor = 14;
export type Connection = {
  db: Database;
  connectionString: string;
  /** Behind a pooler, session state does not last and `LISTEN` receives nothing. */
  isPooled: boolean;
  /** Tells the user where the data is, if it is not in the data folder. */
  notice: string | null;
  /** This process started the embedded PostgreSQL, so no other process uses its data. */
  isOnlyUser: boolean;
  /** Resolves with the reason if the embedded PostgreSQL exits on its own; never for an external one. */
  lost: Promise<string>;
  close(): Promise<void>;
};

type Options = {
  databaseUrl: string | null;
  dataDir: string;
  poolSize: number;
  /** How many connections the embedded PostgreSQL must allow, if other processes use it too. */
  embeddedConnections?: number;
  /** For commands, and for one of several processes: use the embedded PostgreSQL of a running service, if there is one. */
  share?: boolean;
  /** How long to wait for a database that starts at the same time (compose, a reboot). */
  waitMs: number;
  onError(error: Error): void;
  onAvailability?(reason: string | null): void;
};

/** Opens the configured database, or the embedded one. */
export async function connect(options: Options): Promise<Connection> {
  const embedded = options.databaseUrl ? null : await openEmbedded(options);
  const connectionString = options.databaseUrl ?? (embedded?.connectionString as string);
  const { poolSize, onError, onAvailability = () => {} } = options;
  const db = openDatabase({ connectionString, poolSize, onError, onAvailability });
  const close = async () => {
    await db.end();
    await embedded?.stop();
  };
  try {
    await waitForDatabase(db, options.waitMs);
    await refuseOldServers(db);
    const { isPooled } = await examinePooler(db, connectionString);
    const [notice, lost] = [embedded?.notice ?? null, embedded?.exited ?? never()];
    const isOnlyUser = embedded?.isOwned ?? false;
    return { db, connectionString, isPooled, notice, isOnlyUser, lost, close };
  } catch (error) {
    await close();
    throw nameServers(connectionString, error);
  }
}

/** Adds which servers could not be reached, because a driver's "timeout expired" does not say. */
export function nameServers(connectionString: string, error: unknown): unknown {
  if (!isUnavailable(error)) return error;
  const servers = parseConnectionUrl(connectionString).hosts.map(({ label }) => label);
  const message = `PostgreSQL at ${servers.join(', ')} cannot be used now: ${(error as Error).message}`;
  return new DatabaseUnavailable(message, { cause: error });
}

type Embedded = Pick<EmbeddedPostgres, 'connectionString' | 'notice' | 'exited' | 'stop'> & {
  isOwned: boolean;
};

async function openEmbedded({ dataDir, share, embeddedConnections }: Options): Promise<Embedded> {
  const running = share ? await connectToRunning(dataDir) : null;
  if (!running) {
    const settings = { ...(embeddedConnections && { max_connections: String(embeddedConnections) }) };
    return { ...(await startEmbeddedPostgres({ dataDir, settings })), isOwned: true };
  }
  return {
    ...{ connectionString: running.connectionString, notice: null, isOwned: false },
    ...{ exited: never(), stop: async () => {} },
  };
}

async function waitForDatabase(db: Database, waitMs: number): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    try {
      return await db.ping();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > deadlineMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

async function refuseOldServers(db: Database): Promise<void> {
  const { rows } = await db.pool.query<{ major: number }>(
    `select current_setting('server_version_num')::int / 10000 as major`,
  );
  const major = rows[0]?.major ?? 0;
  if (major < minimumMajor) {
    throw new Error(`DATABASE_URL is PostgreSQL ${major}; Simplane needs ${minimumMajor} or newer`);
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
