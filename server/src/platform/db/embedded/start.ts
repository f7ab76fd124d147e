import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { passwordFile, restrictAccess } from './access.ts';
import { locateBinaries } from './binaries.ts';
import { locateCluster, prepareDataFolder } from './cluster-location.ts';
import { DataFolderInUse, EmbeddedPostgresFailed, errorCode } from './failure.ts';
import { initialiseCluster } from './initialise.ts';
import { isLockedOut, isPostgresOf, lockedOutBoundMs, pidInLockFile, stopOrphan } from './orphan.ts';
import { claimFolder } from './ownership.ts';
import { poll } from './poll.ts';
import { readProcess } from './process-table.ts';
import { type Access, connectionStringFor, makeSocketFolder, removeSocketFolder } from './socket-folder.ts';
import { type Ending, type Supervised, supervise } from './supervise.ts';
import type { SystemUser } from './system-user.ts';

export { DataFolderInUse, EmbeddedPostgresFailed } from './failure.ts';
export { connectToRunning } from './ownership.ts';

export type EmbeddedPostgresOptions = {
  dataDir: string;
  database?: string;
  settings?: Record<string, string>;
  /** When running as root: the folder for files that the database's user could not access in the data folder. */
  reachableBase?: string;
  /** How long stop() waits for a fast shutdown before an immediate one; 10 s by default. */
  fastShutdownMs?: number;
  /** The package with the programs; by default the installed one. */
  packageDir?: string;
};

export type EmbeddedPostgres = {
  connectionString: string;
  /** The cluster itself, which is not always inside the data folder. */
  dataDir: string;
  /** Tells the user if the cluster or the programs are not in the usual folder. */
  notice: string | null;
  /** Resolves with the reason if postgres exits without a call to stop(). */
  exited: Promise<string>;
  stop(): Promise<void>;
};

/**
 * Starts the data folder's PostgreSQL: initdb if it is new, takes over from an orphan, waits until it is ready. Measured on
 * two arm64 cores: first start 1.1 s, later starts 60 ms, stop 20 ms.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const { database = 'simplane', reachableBase = '/var/lib/simplane' } = options;
  const folder = await prepareDataFolder(options.dataDir);
  const claim = await claimFolder(folder);
  try {
    const location = await locateCluster(folder, reachableBase);
    const copyBase = process.getuid?.() === 0 ? reachableBase : folder;
    const binaries = await locateBinaries({ user: location.user, packageDir: options.packageDir, copyBase });
    await initialiseCluster(location.cluster, binaries, location.user);
    const password = await restrictAccess({ folder, binaries, ...location });
    const { server, socketDir } = await launch({
      folder,
      password,
      user: location.user,
      postgres: binaries.postgres,
      cluster: location.cluster,
      database,
      settings: options.settings,
      fastShutdownMs: options.fastShutdownMs ?? 10_000,
    });
    if (claim.abandonedSocketDir) await removeSocketFolder(claim.abandonedSocketDir);
    await claim.publish({ socketDir, database }).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });

    let stopping: Promise<void> | null = null;
    const released = server.ended.then(async (ending) => {
      // A claim that cannot be removed becomes stale when this process exits.
      await claim.release().catch(() => {});
      return ending;
    });
    return {
      connectionString: connectionStringFor({ socketDir, password }, database),
      dataDir: location.cluster,
      notice: [location.notice, binaries.notice].filter(Boolean).join(' ') || null,
      exited: released.then(({ how, stderr }) =>
        stopping ? new Promise<string>(() => {}) : `postgres ${how}. Its last output:\n${stderr}`,
      ),
      stop() {
        stopping ??= server.stop().then(async () => void (await released));
        return stopping;
      },
    };
  } catch (error) {
    await claim.release().catch(() => {});
    throw error;
  }
}

type Launch = {
  folder: string;
  password: string | null;
  user: SystemUser;
  postgres: string;
  cluster: string;
  database: string;
  settings: Record<string, string> | undefined;
  fastShutdownMs: number;
};

/** Retries for a while if the cluster is locked, because an earlier server may still be starting or stopping. */
async function launch(wanted: Launch): Promise<{ server: Supervised; socketDir: string }> {
  const deadline = performance.now() + lockedOutBoundMs;
  for (;;) {
    const unrelatedPid = await stopOrphan(wanted.cluster);
    const socketDir = await makeSocketFolder(wanted.user);
    const settings = settingArguments(socketDir, wanted.settings);
    const server = supervise({ ...wanted, socketDir, settings, unrelatedPid });
    const ending = await firstOf(server, { socketDir, password: wanted.password }, wanted);
    if (ending === 'ready') return { server, socketDir };
    if (!isLockedOut(ending.stderr)) {
      throw new EmbeddedPostgresFailed(`postgres ${ending.how} while starting on ${wanted.cluster}.`, ending);
    }
    const holder = await readProcess((await pidInLockFile(wanted.cluster)) ?? 0);
    if (holder?.command.includes('postgres') && !isPostgresOf(wanted.cluster, holder)) {
      throw new DataFolderInUse(wanted.cluster, holder.pid, holder.command);
    }
    if (performance.now() > deadline) {
      throw new EmbeddedPostgresFailed(`The database in ${wanted.cluster} is still in use.`, ending);
    }
    await delay(100);
  }
}

const wrongPassword = '28P01';

async function firstOf(
  server: Supervised,
  access: Access,
  { database, folder }: Launch,
): Promise<'ready' | Ending> {
  const over = new AbortController();
  try {
    return await Promise.race([server.ended, waitUntilReady(access, database, over.signal)]);
  } catch (error) {
    await server.stop();
    const { stderr } = await server.ended;
    throw new EmbeddedPostgresFailed(`postgres started but does not accept connections: ${String(error)}.`, {
      cause: error,
      stderr,
      ...(errorCode(error) === wrongPassword && {
        remedy: `Remove ${passwordFile(folder)}: the next start sets a new password.`,
      }),
    });
  } finally {
    over.abort();
  }
}

// Replaying the log after a crash can take minutes. If postgres exits, the caller notices at once.
const recoveryBoundMs = 300_000;

/** Waits until postgres answers and the database exists. The caller aborts if postgres exits first. */
export async function waitUntilReady(access: Access, database: string, over: AbortSignal): Promise<'ready'> {
  const answer = await poll(async () => over.aborted || ensureDatabase(access, database), {
    timeoutMs: recoveryBoundMs,
    everyMs: 5,
  });
  if (answer === null) throw new Error(`no answer on its socket within ${recoveryBoundMs / 1000} s`);
  return 'ready';
}

async function ensureDatabase(access: Access, database: string): Promise<'ready' | null> {
  const client = new pg.Client({
    connectionString: connectionStringFor(access, 'postgres'),
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const found = await client.query('select 1 from pg_database where datname = $1', [database]);
    if (found.rowCount === 0) await client.query(`create database ${pg.escapeIdentifier(database)}`);
    return 'ready';
  } catch (error) {
    if (isNotYet(error)) return null;
    throw error;
  } finally {
    await client.end().catch(() => {});
  }
}

/** No socket yet, no listener yet, or "the database system is starting up". */
function isNotYet(error: unknown): boolean {
  const code = errorCode(error);
  return code === undefined || ['ENOENT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE', '57P03'].includes(code);
}

/** Returns `-c name=value` arguments. The caller's settings override the defaults. */
export function settingArguments(socketDir: string, own: Record<string, string> = {}): string[] {
  const all = { ...defaults, unix_socket_directories: socketDir, ...own };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

// fsync and synchronous_commit stay on, so that acknowledged commits survive a power failure.
const defaults = {
  listen_addresses: '',
  port: '5432',
  unix_socket_permissions: '0700',
  shared_buffers: '128MB',
  max_connections: '100',
  // An embedded server has no replicas.
  wal_level: 'minimal',
  max_wal_senders: '0',
  // posix needs space in /dev/shm, which containers limit to 64 MB or lack.
  dynamic_shared_memory_type: 'mmap',
  // Saves three processes compared with `worker`; this server is mostly idle.
  io_method: 'sync',
  jit: 'off',
  autovacuum: 'on',
  log_destination: 'stderr',
  logging_collector: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
};
