import { type Database, openDatabase } from './database.ts';
import { connectToRunning, type EmbeddedPostgres, startEmbeddedPostgres } from './embedded/start.ts';
import { examinePooler } from './pooler.ts';
import { isUnavailable } from './unavailable.ts';

const oldestMajor = 14;
export type Connection = {
  db: Database;
  connectionString: string;
  /** A pooler stands between us and the server: no session state lasts, and `LISTEN` hears nothing. */
  isPooled: boolean;
  /** What the user should know about where the data is. */
  notice: string | null;
  /** This process has started the embedded PostgreSQL, so no other works on its data. */
  isOnlyUser: boolean;
  /** Resolves with the reason when an embedded PostgreSQL ends on its own; never for another. */
  lost: Promise<string>;
  close(): Promise<void>;
};

type Options = {
  databaseUrl: string | null;
  dataDir: string;
  poolSize: number;
  /** For commands beside a running service: use the embedded PostgreSQL that it has. */
  share?: boolean;
  /** How long to wait for a database that starts together with us (compose, a machine that reboots). */
  waitMs: number;
  onError(error: Error): void;
  onAvailability?(reason: string | null): void;
};

/** Opens the database that the settings name, or the embedded one. */
export async function connect(options: Options): Promise<Connection> {
  const embedded = options.databaseUrl ? null : await reachEmbedded(options);
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
    throw error;
  }
}

type Reached = Pick<EmbeddedPostgres, 'connectionString' | 'notice' | 'exited' | 'stop'> & {
  isOwned: boolean;
};

async function reachEmbedded({ dataDir, share }: Options): Promise<Reached> {
  const running = share ? await connectToRunning(dataDir) : null;
  if (!running) return { ...(await startEmbeddedPostgres({ dataDir })), isOwned: true };
  return {
    ...{ connectionString: running.connectionString, notice: null, isOwned: false },
    ...{ exited: never(), stop: async () => {} },
  };
}

async function waitForDatabase(db: Database, waitMs: number): Promise<void> {
  const giveUpAtMs = performance.now() + waitMs;
  for (;;) {
    try {
      return await db.ping();
    } catch (error) {
      if (!isUnavailable(error) || performance.now() > giveUpAtMs) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

async function refuseOldServers(db: Database): Promise<void> {
  const { rows } = await db.pool.query<{ major: number }>(
    `select current_setting('server_version_num')::int / 10000 as major`,
  );
  const major = rows[0]?.major ?? 0;
  if (major < oldestMajor) {
    throw new Error(`DATABASE_URL is a PostgreSQL ${major}; Simplane needs ${oldestMajor} or newer`);
  }
}

function never(): Promise<never> {
  return new Promise(() => {});
}
