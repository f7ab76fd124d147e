import cluster from 'node:cluster';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { commandLine } from './accounts/audit/record.ts';
import {
  ensureSandboxKey,
  readOrCreateSandboxKey,
  type SandboxKeyState,
  sandboxKeyFile,
} from './accounts/ensure-sandbox-key.ts';
import { seedSandbox } from './accounts/products/sandbox-catalog.ts';
import { createLink } from './accounts/sessions/create-link.ts';
import { apiChores, startChores } from './background/chores.ts';
import { createErrorHandler, createService, type State } from './background/create-service.ts';
import { reportOf } from './background/report-of.ts';
import type { Service } from './background/service.ts';
import { releaseOrphanedClaims, startWork } from './background/start-work.ts';
import { workWhileClockIsRight } from './background/work-while-clock-is-right.ts';
import type { Config } from './config/settings.ts';
import { version } from './config/version.ts';
import { createApp } from './http/app.ts';
import { startMetrics } from './http/metrics-app.ts';
import type { Core, Network, ObservationSource } from './network/port.ts';
import { createObservationHandler } from './orders/observations/handle-observation.ts';
import { type Connection, connect, nameServers } from './platform/db/connect.ts';
import type { Database } from './platform/db/database.ts';
import { createDatabaseClock, type DatabaseClock, readDatabaseMs } from './platform/db/database-clock.ts';
import { ensureMode, prepareDatabase } from './platform/db/prepare-database.ts';
import { createUuidV7, type TimeAndIds } from './platform/ids/uuid-v7.ts';
import { createClockSkew } from './platform/processes/clock-skew.ts';
import type { PeerReport } from './platform/processes/report.ts';
import { startHeartbeat } from './platform/processes/start-heartbeat.ts';
import type { CertificateEnd } from './platform/telemetry/metrics.ts';

export type Running = {
  /** As clients reach it: `SIMPLANE_PUBLIC_URL` if set. */
  url: string;
  /** As this machine reaches it. */
  localUrl: string;
  /** Null in live mode. */
  sandboxKey: SandboxKey | null;
  /** Makes a link that signs in to the dashboard once. Null unless this process serves it in a sandbox. */
  newDashboardLink: (() => Promise<string>) | null;
  notice: string | null;
  lost: Promise<string>;
  stop(): Promise<void>;
};

/** `file` is where the key is stored; null if it came from `SIMPLANE_API_KEY`. */
export type SandboxKey = { key: string; file: string | null; state: SandboxKeyState };

// How long the last lines of the request log may take at shutdown; they need some milliseconds.
const lastLinesMs = 2_000;

type App = ReturnType<typeof createApp>;

/** Config → database → app and workers. The caller chooses the network and handles process signals. */
export async function serve(
  config: Config,
  log: Logger,
  network: Network | null,
  parts: Partial<Parts> = {},
): Promise<Running> {
  const connection = await connect({
    ...config,
    poolSize: config.databasePoolSize,
    share: cluster.isWorker, // its parent has the embedded one
    waitMs: 30_000,
    onError: (error) => log.warn({ error: error.message }, 'a database connection was lost'),
    onAvailability: (reason) =>
      reason === null
        ? log.info('the database can be written to again')
        : log.warn({ reason }, 'the database cannot be written to'),
  });
  try {
    return await start(config, connection, log, network, parts);
  } catch (error) {
    await connection.close();
    throw nameServers(connection.connectionString, error);
  }
}

type Parts = {
  /** Measured before anything is written. */
  clock: DatabaseClock;
  observations: ObservationSource | null;
  core: Core | null;
  certificates(): CertificateEnd[];
  /** How this process reaches the systems it calls. */
  peers(): PeerReport[];
};

async function start(
  config: Config,
  connection: Connection,
  log: Logger,
  network: Network | null,
  {
    clock = createDatabaseClock(),
    observations = null,
    core = null,
    certificates = () => [],
    peers = () => [],
  }: Partial<Parts>,
): Promise<Running> {
  const { db } = connection;
  await clock.measure(() => readDatabaseMs(db));
  const { applied } = await prepareDatabase(connection, (says) => log.info(says));
  if (applied.length > 0) log.info({ applied }, 'migrated the database');
  await ensureMode(db, config.mode);
  if (connection.isOnlyUser) await releaseOrphanedClaims(db, log);

  const newUuid = createUuidV7(clock);
  const sandboxKey = config.mode === 'sandbox' ? await openSandbox(config, db, { clock, newUuid }) : null;
  const state: State = { url: '', isStopping: false, isHeartbeatLate: () => false };
  const skew = createClockSkew(clock);
  const service = await createService(config, connection, log, { clock, newUuid, skew, certificates, state });
  const { metrics, probes, signals } = service;
  const onError = createErrorHandler(service);
  await service.keys.learn(clock.nowMs());
  const app = createApp(service);
  const servers = [app, await startMetrics(service, config.metricsHost, config.metricsPort)].filter(
    (server) => server !== null,
  );
  await app.listen({ host: config.host, port: config.port });
  state.url = urlOf(app, config.host);
  const reports = (await observations?.start(createObservationHandler(service))) ?? null;
  const { role, shutdownTimeoutMs: stopTimeoutMs } = config;
  const chores = role === 'worker' ? null : startChores(apiChores(service), null, onError);
  const work = workWhileClockIsRight({
    ...{ skew, log, metrics, stopTimeoutMs, onError },
    start: role === 'api' ? null : () => startWork(service, config, { network, core }, onError),
  });
  const { isPaused, check: onMeasured } = work;
  const { throughput } = metrics;
  const { currentMs: clockSkewMs } = skew;
  const report = () =>
    reportOf({ config, keyring: service.keyring, certificates, peers, isPaused, throughput, clockSkewMs });
  const heartbeat = await startHeartbeat({
    ...{ db, clock, onMeasured, newUuid, role, version, report, onError },
    onAlone: signals.setAlone,
  });
  state.isHeartbeatLate = heartbeat.isLate;

  async function stop(): Promise<void> {
    state.isStopping = true;
    // In parallel, so that nothing is claimed while requests drain, and one timeout covers all.
    await Promise.all([
      closeServers(servers, stopTimeoutMs, log),
      reports?.stop(stopTimeoutMs),
      work.stop(stopTimeoutMs),
      chores?.stop(),
    ]);
    await probes.stop();
    await heartbeat.stop(); // until here its work may show
    await signals.stop();
    await service.cells.close();
    await service.requestLog.stop(lastLinesMs);
    await service.keys
      .flushUses()
      .catch((error: Error) => log.warn({ error: error.message }, 'API key usage was not saved'));
    await connection.close();
  }

  const { notice, lost } = connection;
  const newDashboardLink = linkMaker(service, sandboxKey);
  return { url: service.publicUrl(), localUrl: state.url, sandboxKey, newDashboardLink, notice, lost, stop };
}

/** Creates the sandbox's key and products, if they do not exist. */
async function openSandbox(
  { apiKey, dataDir, cell }: Config,
  db: Database,
  deps: TimeAndIds,
): Promise<SandboxKey> {
  const key = apiKey ?? (await readOrCreateSandboxKey(dataDir, cell));
  const file = apiKey === null ? sandboxKeyFile(dataDir) : null;
  const state = await ensureSandboxKey(db, deps, key);
  await seedSandbox(db, deps.clock);
  return { key, file, state };
}

/** For the sandbox's own key, so that a newcomer gets from the start to a signed-in page by one link. */
function linkMaker(service: Service, sandboxKey: SandboxKey | null) {
  const { db, clock, newUuid, cell, role, hasDashboard, publicUrl } = service;
  if (!hasDashboard || role === 'worker' || sandboxKey?.state.kind !== 'usable') return null;
  const { id } = sandboxKey.state;
  const maker = { ...commandLine, clock, newUuid, cell };
  return async () => publicUrl() + (await db.transaction((tx) => createLink(tx, maker, id)));
}

/** Waits for requests in flight until the timeout, then closes their connections. */
async function closeServers(servers: App[], timeoutMs: number, log: Logger): Promise<void> {
  const forceClose = setTimeout(() => {
    log.warn('requests in flight did not finish in time and were cut off');
    for (const { server } of servers) server.closeAllConnections();
  }, timeoutMs);
  await Promise.all(servers.map((server) => server.close()));
  clearTimeout(forceClose);
}

function urlOf(app: App, host: string): string {
  const { port } = app.server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
