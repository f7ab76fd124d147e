import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { ensureSandboxKey } from './accounts/ensure-sandbox-key.ts';
import { createKeyDirectory } from './accounts/key-directory.ts';
import { readOrCreateSandboxKey } from './accounts/sandbox-key-file.ts';
import { expireBundles } from './bundles/expire.ts';
import { systemClock } from './clock.ts';
import type { Config } from './config.ts';
import { type Connection, connect } from './db/connect.ts';
import { migrate } from './db/migrate.ts';
import { createSignals } from './db/signals.ts';
import { createRunners } from './execution-runners.ts';
import { startExecutionWorker } from './executions/worker.ts';
import { createApp } from './http/app.ts';
import { createMetricsApp } from './http/metrics-app.ts';
import { purgeExpiredKeys } from './idempotency/purge-expired.ts';
import { createMetrics } from './metrics.ts';
import type { Network } from './network/port.ts';
import { seedSandbox } from './products/seed-sandbox.ts';
import type { Service } from './service.ts';
import { createUuidV7 } from './uuid-v7.ts';
import { every } from './worker/every.ts';

export type Running = {
  url: string;
  apiKey: string | null;
  notice: string | null;
  lost: Promise<string>;
  stop(): Promise<void>;
};

type App = ReturnType<typeof createApp>;

/** Config → database → app and workers. The caller chooses the network and holds the signals. */
export async function serve(config: Config, log: Logger, network: Network | null): Promise<Running> {
  const connection = await connect({
    ...config,
    poolSize: config.databasePoolSize,
    waitMs: 30_000,
    onError: (error) => log.warn({ error: error.message }, 'a database connection was lost'),
  });
  try {
    return await start(config, connection, log, network);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function start(
  config: Config,
  connection: Connection,
  log: Logger,
  network: Network | null,
): Promise<Running> {
  const { db, connectionString } = connection;
  const { applied } = await migrate(connectionString);
  if (applied.length > 0) log.info({ applied }, 'migrated the database');

  const clock = systemClock;
  const newUuid = createUuidV7(clock);
  const apiKey =
    config.mode === 'sandbox' ? (config.apiKey ?? (await readOrCreateSandboxKey(config.dataDir))) : null;
  if (apiKey !== null) {
    await ensureSandboxKey(db, { clock, newUuid }, apiKey);
    await seedSandbox(db, clock);
  }

  let url = '';
  let stopping = false;
  const onError = (error: unknown) =>
    log.warn({ error: (error as Error).message }, 'background work failed; it is tried again');
  const signals = createSignals({ db, connectionString, onError });
  const service: Service = {
    ...config,
    db,
    clock,
    newUuid,
    signals,
    keys: createKeyDirectory(db),
    log,
    metrics: createMetrics(db),
    metricsOnApi: config.metricsPort === null,
    publicUrl: () => config.publicUrl ?? url,
    isStopping: () => stopping,
  };
  const app = createApp(service);
  const servers = [app];
  if (config.metricsPort !== null) {
    const metricsApp = createMetricsApp(service);
    await metricsApp.listen({ host: config.host, port: config.metricsPort });
    servers.push(metricsApp);
  }
  await app.listen({ host: config.host, port: config.port });
  url = urlOf(app, config.host);
  const chores = startChores(service, onError);
  const worker = network && config.role !== 'api' ? startWorker(service, config, network, onError) : null;

  async function stop(): Promise<void> {
    stopping = true;
    await closeServers(servers, config.shutdownTimeoutMs, log);
    await Promise.all([...chores.map((chore) => chore.stop()), worker?.stop(config.shutdownTimeoutMs)]);
    await signals.stop();
    await service.keys
      .flushUses()
      .catch((error: Error) => log.warn({ error: error.message }, 'last uses of keys were lost'));
    await connection.close();
  }

  return { url: service.publicUrl(), apiKey, notice: connection.notice, lost: connection.lost, stop };
}

function startChores(service: Service, onError: (error: unknown) => void) {
  const { db, clock, keys, role } = service;
  return [
    ...(role === 'worker' ? [] : [every(10_000, () => keys.flushUses(), onError)]),
    ...(role === 'api'
      ? []
      : [
          every(60_000, () => purgeExpiredKeys(db, clock), onError),
          every(1_000, () => expireBundles(db, service), onError),
        ]),
  ];
}

function startWorker(service: Service, config: Config, network: Network, onError: (error: unknown) => void) {
  const worker = startExecutionWorker({
    db: service.db,
    clock: service.clock,
    newUuid: service.newUuid,
    network,
    leaseMs: config.executionLeaseMs,
    networkTimeoutMs: config.networkTimeoutMs,
    retryScheduleMs: config.executionRetryScheduleMs,
    runners: createRunners(),
    concurrency: config.executionConcurrency,
    pollMs: 1_000,
    onError,
  });
  service.signals.on('executions', worker.wake);
  return worker;
}

/** Requests in flight may finish, for a bounded time; then their connections are cut. */
async function closeServers(servers: App[], timeoutMs: number, log: Logger): Promise<void> {
  const cut = setTimeout(() => {
    log.warn('requests in flight did not finish in time and were cut off');
    for (const { server } of servers) server.closeAllConnections();
  }, timeoutMs);
  await Promise.all(servers.map((server) => server.close()));
  clearTimeout(cut);
}

function urlOf(app: App, host: string): string {
  const { port } = app.server.address() as AddressInfo;
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
