import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { ensureSandboxKey, type SandboxKeyState } from './accounts/ensure-sandbox-key.ts';
import { createKeyDirectory } from './accounts/key-directory.ts';
import { readOrCreateSandboxKey, sandboxKeyFile } from './accounts/sandbox-key-file.ts';
import { expireBundles } from './bundles/expire.ts';
import { systemClock } from './clock.ts';
import { addressPolicyOf, type Config } from './config.ts';
import { bringUp } from './db/bring-up.ts';
import { type Connection, connect } from './db/connect.ts';
import { createFirstStatistics } from './db/first-statistics.ts';
import { createSignals } from './db/signals.ts';
import { ensureMode } from './deployment/ensure-mode.ts';
import { describeCause } from './describe-cause.ts';
import { readEncryptionKeys } from './encryption-keys.ts';
import { createReportTaker } from './esims/take-report.ts';
import { createRunners } from './execution-runners.ts';
import { startExecutionWorker } from './executions/worker.ts';
import { freeAbandonedClaims } from './free-abandoned-claims.ts';
import { createApp } from './http/app.ts';
import { createMetricsApp } from './http/metrics-app.ts';
import { purgeExpiredKeys } from './idempotency/purge-expired.ts';
import { createKeyring } from './keyring.ts';
import { createMetrics } from './metrics.ts';
import type { Network, ObservationSource } from './network/port.ts';
import { seedSandbox } from './products/seed-sandbox.ts';
import { purgeOld } from './retention/purge-old.ts';
import { createOldFormCheck } from './sealing/old-form.ts';
import type { Service } from './service.ts';
import { createUuidV7 } from './uuid-v7.ts';
import { version } from './version.ts';
import { runRecoveries } from './webhooks/deliveries/run-recoveries.ts';
import { cancelUndeliverable } from './webhooks/endpoints/cancel-undeliverable.ts';
import { createAccountAgents } from './webhooks/guard/account-agents.ts';
import { createGuardedAgent } from './webhooks/guard/connector.ts';
import { createNames } from './webhooks/names/names.ts';
import { mayShowResponse } from './webhooks/sender/response-privacy.ts';
import { startSender } from './webhooks/sender/start-sender.ts';
import { every } from './worker/every.ts';

export type Running = {
  url: string;
  /** The sandbox's own key; null in live. */
  sandboxKey: SandboxKey | null;
  notice: string | null;
  lost: Promise<string>;
  stop(): Promise<void>;
};

/** `file` is where it is kept; null when it came from `SIMPLANE_API_KEY`. */
export type SandboxKey = { key: string; file: string | null; state: SandboxKeyState };

type App = ReturnType<typeof createApp>;

/** Config → database → app and workers. The caller chooses the network and holds the signals. */
export async function serve(
  config: Config,
  log: Logger,
  network: Network | null,
  observations: ObservationSource | null = null,
): Promise<Running> {
  const connection = await connect({
    ...config,
    poolSize: config.databasePoolSize,
    waitMs: 30_000,
    onError: (error) => log.warn({ error: error.message }, 'a database connection was lost'),
    onAvailability: (reason) =>
      reason === null
        ? log.info('the database takes everything again')
        : log.warn({ reason }, 'the database cannot be written to'),
  });
  try {
    return await start(config, connection, log, { network, observations });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function start(
  config: Config,
  connection: Connection,
  log: Logger,
  { network, observations }: { network: Network | null; observations: ObservationSource | null },
): Promise<Running> {
  const { db, connectionString } = connection;
  const { applied } = await bringUp(connection, (says) => log.info(says));
  if (applied.length > 0) log.info({ applied }, 'migrated the database');
  await ensureMode(db, config.mode);
  if (connection.isOnlyUser) await freeAbandonedClaims(db, log);

  const clock = systemClock;
  const newUuid = createUuidV7(clock);
  let sandboxKey: SandboxKey | null = null;
  if (config.mode === 'sandbox') {
    const key = config.apiKey ?? (await readOrCreateSandboxKey(config.dataDir));
    const file = config.apiKey === null ? sandboxKeyFile(config.dataDir) : null;
    sandboxKey = { key, file, state: await ensureSandboxKey(db, { clock, newUuid }, key) };
    await seedSandbox(db, clock);
  }

  let url = '';
  let stopping = false;
  const metrics = createMetrics(db);
  const onError = (error: unknown, about: object = {}) => {
    metrics.backgroundFailureCount.inc();
    log.warn({ ...about, cause: describeCause(error) }, 'background work failed; it is tried again');
  };
  const listensAt = config.databaseDirectUrl ?? (connection.isPooled ? null : connectionString);
  if (listensAt === null && config.role !== 'api') {
    log.warn(
      'DATABASE_URL leads through a pooler and SIMPLANE_DATABASE_DIRECT_URL is not set: work of other processes is found by polling, up to two seconds late',
    );
  }
  const signals = createSignals({ db, connectionString: listensAt, onError });
  const service: Service = {
    ...config,
    hasCore: config.mode === 'sandbox' || config.coreUrl !== null,
    db,
    clock,
    newUuid,
    signals,
    keyring: createKeyring(await readEncryptionKeys(config), { isOldFormRefused: createOldFormCheck(db) }),
    addressPolicy: addressPolicyOf(config),
    endpointLimit: config.webhookEndpointLimit,
    keys: createKeyDirectory(db),
    log,
    metrics,
    metricsOnApi: config.metricsPort === null,
    publicUrl: () => config.publicUrl ?? url,
    isStopping: () => stopping,
  };
  await service.keys.learn();
  const app = createApp(service);
  const servers = [app];
  if (config.metricsPort !== null) {
    const metricsApp = createMetricsApp(service);
    await metricsApp.listen({ host: config.metricsHost ?? config.host, port: config.metricsPort });
    servers.push(metricsApp);
  }
  await app.listen({ host: config.host, port: config.port });
  url = urlOf(app, config.host);
  const reports = (await observations?.start(createReportTaker(service))) ?? null;
  const chores = startChores(service, config.retentionMs, onError);
  const worker = network && config.role !== 'api' ? startWorker(service, config, network, onError) : null;
  const sender = config.role === 'api' ? null : startSending(service, config, onError);

  async function stop(): Promise<void> {
    stopping = true;
    const patienceMs = config.shutdownTimeoutMs;
    // Together, so that nothing is claimed while requests drain, and one bound holds for all.
    await Promise.all([
      closeServers(servers, patienceMs, log),
      reports?.stop(patienceMs),
      worker?.stop(patienceMs),
      sender?.stop(patienceMs),
      ...chores.map((chore) => chore.stop()),
    ]);
    await signals.stop();
    await service.keys
      .flushUses()
      .catch((error: Error) => log.warn({ error: error.message }, 'last uses of keys were lost'));
    await connection.close();
  }

  return { url: service.publicUrl(), sandboxKey, notice: connection.notice, lost: connection.lost, stop };
}

function startChores(service: Service, retentionMs: number, onError: (error: unknown) => void) {
  const { db, clock, keys, role } = service;
  return [
    ...(role === 'worker' ? [] : [every(10_000, () => keys.flushUses(), onError)]),
    ...(role === 'api'
      ? []
      : [
          every(60_000, (stopping) => purgeExpiredKeys(db, clock, stopping), onError),
          every(60_000, (stopping) => purgeOld(db, clock, retentionMs, stopping), onError),
          every(1_000, (stopping) => expireBundles(db, service, stopping), onError),
          every(1_000, () => runRecoveries(db, service), onError),
          every(10_000, (stopping) => cancelUndeliverable(db, clock, stopping), onError),
          every(2_000, createFirstStatistics(db, onError), onError),
        ]),
  ];
}

function startWorker(service: Service, config: Config, network: Network, onError: (error: unknown) => void) {
  const worker = startExecutionWorker({
    db: service.db,
    clock: service.clock,
    newUuid: service.newUuid,
    signals: service.signals,
    network,
    onOutcome: (type, outcome) => service.metrics.executionCount.inc({ execution_type: type, outcome }),
    keyring: service.keyring,
    leaseMs: config.executionLeaseMs,
    networkTimeoutMs: config.networkTimeoutMs,
    retryScheduleMs: config.executionRetryScheduleMs,
    runners: createRunners(config.iccidRanges),
    concurrency: config.executionConcurrency,
    pollMs: 1_000,
    onError,
  });
  service.signals.on('executions', worker.wake);
  return worker;
}

function startSending(service: Service, config: Config, onError: (error: unknown) => void) {
  // As many connections to one host as one endpoint may have deliveries in flight.
  const agents = createAccountAgents(() => createGuardedAgent(service.addressPolicy, { connections: 64 }));
  const sender = startSender({
    ...service,
    dispatcherOf: agents.agentOf,
    names: createNames({ servers: config.webhookDnsServers }),
    mayShowResponse,
    userAgent: `Simplane/${version}`,
    timeoutMs: config.webhookTimeoutMs,
    retryScheduleMs: config.webhookRetryScheduleMs,
    disableRule: { afterMs: config.webhookDisableAfterMs, minFailures: config.webhookDisableMinFailures },
    concurrency: config.webhookConcurrency,
    random: Math.random,
    onAttempt: ({ outcome, durationMs }) =>
      service.metrics.attemptDuration.observe({ outcome }, durationMs / 1_000),
    onError,
  });
  service.signals.on('deliveries', sender.wake);
  return {
    async stop(patienceMs: number) {
      await sender.stop(patienceMs);
      await agents.destroy();
    },
  };
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
