import cluster, { type Worker } from 'node:cluster';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { releaseOrphanedClaims } from '../background/start-work.ts';
import type { Config } from '../config/settings.ts';
import { type Connection, connect } from '../platform/db/connect.ts';
import { prepareDatabase } from '../platform/db/prepare-database.ts';
import { relayMetrics } from '../platform/processes/siblings.ts';
import { createLog } from '../platform/telemetry/log.ts';
import { publishAddress } from './sandbox-address.ts';
import { waitForSignal } from './wait-for-signal.ts';

/** What a process tells its parent once it serves. */
export type Ready = { kind: 'ready'; greeting: string; localUrl: string };

// So that a process that ends again and again leaves the others their cores.
const replaceAfterMs = 1_000;

/**
 * `SIMPLANE_PROCESSES`: this process has the embedded PostgreSQL and the port, and its children do the work. One that ends is replaced,
 * and the others go on. They end with this one: a child whose parent is gone exits.
 */
export async function serveProcesses(config: Config, warnings: string[]): Promise<void> {
  const stopSignal = waitForSignal();
  const log = createLog(config.logLevel);
  for (const warning of warnings) log.warn(warning);
  const embedded = config.databaseUrl === null ? await openEmbedded(config, log) : null;
  relayMetrics();
  const children = startChildren(config.processes, log);
  if (config.mode === 'live') process.on('SIGHUP', () => children.signal('SIGHUP'));

  const first = await Promise.race([children.first, stopSignal]);
  const isServing = typeof first === 'object' && first !== null;
  if (isServing) process.stdout.write(first.greeting);
  if (embedded?.notice) log.info(embedded.notice); // only this process knows where the data is
  const isSandboxApi = config.mode === 'sandbox' && config.role !== 'worker';
  const address =
    isServing && isSandboxApi ? await publishAddress(config.dataDir, first.localUrl, log) : null;
  const lost = embedded?.lost.then((why) => ({ lost: why }));
  const reason = first === null ? null : await Promise.race([stopSignal, ...(lost ? [lost] : [])]);
  if (typeof reason === 'object' && reason !== null) {
    log.fatal({ reason: reason.lost }, 'the embedded PostgreSQL exited');
    process.exit(1);
  }
  await address?.remove();
  const isClean = await children.stop();
  await embedded?.close();
  process.exitCode = first !== null && isClean ? 0 : 1;
}

/** The children find it by the data folder, as commands do. */
async function openEmbedded(config: Config, log: Logger): Promise<Connection> {
  const connection = await connect({
    ...config,
    poolSize: 2,
    embeddedConnections: connectionsFor(config),
    waitMs: 30_000,
    onError: (error) => log.warn({ error: error.message }, 'a database connection was lost'),
  });
  try {
    await prepareDatabase(connection, (says) => log.info(says));
    await releaseOrphanedClaims(connection.db, log); // no child runs yet
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

/** For each process its pool and what listens beside it, and some for commands. */
function connectionsFor({ processes, databasePoolSize }: Config): number {
  return Math.max(100, processes * (databasePoolSize + 4) + 20);
}

/** `first` resolves when one serves; with null if one ends before: what it could not do, the others could not either. */
function startChildren(count: number, log: Logger) {
  let isStopping = false;
  let isClean = true;
  let isServed = false;
  let resolveFirst: (ready: Ready | null) => void;
  const first = new Promise<Ready | null>((resolve) => {
    resolveFirst = resolve;
  });
  const running = () => Object.values(cluster.workers ?? {}).filter((child) => child !== undefined);

  // The first alone: it creates the key and the products of a new sandbox.
  cluster.fork();
  cluster.on('message', (_: Worker, message: Ready) => {
    if (message.kind !== 'ready' || isServed) return;
    isServed = true;
    resolveFirst(message);
    for (let n = 1; !isStopping && n < count; n++) cluster.fork();
  });
  cluster.on('exit', ({ id, process: { pid } }: Worker, code: number | null, signal: string | null) => {
    if (isStopping) {
      isClean &&= code === 0;
      return;
    }
    resolveFirst(null);
    if (!isServed) return;
    log.error({ process: id, pid, code, signal }, 'a process ended by itself; another replaces it');
    setTimeout(() => {
      if (!isStopping) cluster.fork();
    }, replaceAfterMs);
  });

  function signal(name: NodeJS.Signals): void {
    for (const child of running()) child.process.kill(name);
  }

  return {
    first,
    signal,
    /** Each has its own time limit. Returns whether all ended as they should. */
    async stop(): Promise<boolean> {
      isStopping = true;
      signal('SIGTERM');
      while (running().length > 0) await once(cluster, 'exit');
      return isClean;
    },
  };
}
