import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { accountScopes, operations, type Scope } from '@simplane/contract';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import { storeKey } from '../../src/accounts/issue-key.ts';
import { createKeyDirectory } from '../../src/accounts/key-directory.ts';
import { seedSandbox } from '../../src/accounts/products/sandbox-catalog.ts';
import { storeAccount } from '../../src/accounts/store-account.ts';
import { createRunners } from '../../src/background/execution-runners.ts';
import type { Service } from '../../src/background/service.ts';
import { createApp } from '../../src/http/app.ts';
import { operatorRoutes } from '../../src/http/operator-routes.ts';
import { routes } from '../../src/http/routes.ts';
import type { Network } from '../../src/network/port.ts';
import { type Sequencer, startSequencer } from '../../src/notify/feed/sequencer.ts';
import { createAccountAgents } from '../../src/notify/webhooks/guard/account-agents.ts';
import { createGuardedAgent } from '../../src/notify/webhooks/guard/connector.ts';
import { createNames } from '../../src/notify/webhooks/names/names.ts';
import { mayShowResponse } from '../../src/notify/webhooks/sender/attempt.ts';
import { createProbes } from '../../src/notify/webhooks/sender/probes.ts';
import { type Sender, startSender } from '../../src/notify/webhooks/sender/start-sender.ts';
import { createStatsCollector } from '../../src/notify/webhooks/stats/collect.ts';
import { startExecutionWorker } from '../../src/orders/executions/worker.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { createUuidV7 } from '../../src/platform/ids/uuid-v7.ts';
import { createKeyring } from '../../src/platform/secrets/keyring.ts';
import { createLog } from '../../src/platform/telemetry/log.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import type { WorkQueue } from '../../src/platform/worker/work-queue.ts';
import { createRequestLog, type RequestLogLevel } from '../../src/views/request-log/buffer.ts';
import { cloneDatabase } from './database.ts';
import { watchStatements } from './watch-statements.ts';

type TestClock = { nowMs(): number; advance(ms: number): void };

export type TestService = {
  url: string;
  key: string;
  accountUuid: string;
  db: Database;
  databaseUrl: string;
  clock: TestClock;
  service: Service;
  logLines: string[];
  createKey(options?: KeyOptions): Promise<string>;
  createAccount(name: string): Promise<{ accountUuid: string; key: string }>;
  /** Runs executions in this process, on the given network. */
  startWorker(network: Network, overrides?: Partial<Parameters<typeof startExecutionWorker>[0]>): WorkQueue;
  /** Gives events their positions in the feed. */
  startSequencer(overrides?: Partial<Parameters<typeof startSequencer>[0]>): Sequencer;
  /** Sends webhooks from this process. */
  startSender(overrides?: Partial<Parameters<typeof startSender>[0]>): Sender;
  /** Writes the attempts counted so far. */
  flushStats(): Promise<void>;
  stop(): Promise<void>;
};

type KeyOptions = {
  scopes?: Scope[];
  accountUuid?: string;
  expiresAt?: Date | null;
  allowedCidrs?: string[];
};
type Options = Partial<Service> & {
  api?: Parameters<typeof createApp>[1];
  databaseUrl?: string;
  requestLogLevel?: RequestLogLevel;
};

/** The real app on a real port with its own database, and a clock that tests can move. */
export async function startService({
  api,
  databaseUrl,
  requestLogLevel = 'off',
  ...overrides
}: Options = {}): Promise<TestService> {
  const clone = databaseUrl ? null : await cloneDatabase();
  const address = databaseUrl ?? (clone?.url as string);
  const db = watchStatements(openDatabase({ connectionString: address, poolSize: 16, onError: () => {} }));
  const clock = createTestClock();
  const newUuid = createUuidV7(clock);
  const logLines: string[] = [];
  let url = '';
  const listeners = new Map<string, ((subject?: string) => void)[]>();
  const keyring = overrides.keyring ?? createKeyring([randomBytes(32)]);
  const log = createLog('info', { write: (line: string) => void logLines.push(line) });
  const addressPolicy = overrides.addressPolicy ?? {
    allowsHttp: true,
    allowsPrivate: true,
    allowedCidrs: [],
  };
  const probeAgents = createAccountAgents(() => createGuardedAgent(addressPolicy));
  const stats = createStatsCollector(db);
  const metrics = createMetrics(db);
  const service: Service = {
    mode: 'sandbox',
    hasCore: true,
    role: 'all',
    db,
    clock,
    clockTrouble: () => null,
    writeTrouble: db.writeTrouble,
    newUuid,
    signals: {
      announce: (topic, subject) => {
        for (const listener of listeners.get(topic) ?? []) setImmediate(listener, subject);
      },
      on(topic, listener) {
        listeners.set(topic, [...(listeners.get(topic) ?? []), listener]);
        return () =>
          void listeners.set(
            topic,
            (listeners.get(topic) ?? []).filter((one) => one !== listener),
          );
      },
      stop: async () => {},
    },
    keyring,
    missingKeys: [],
    addressPolicy,
    probes: createProbes({
      clock,
      keyring,
      log,
      dispatcherOf: probeAgents.agentOf,
      names: createNames(),
      mayShowResponse,
      userAgent: 'Simplane/test',
      timeoutMs: 5_000,
    }),
    endpointLimit: 1_000,
    usageMaxAgeMs: 35 * 86_400_000,
    keys: createKeyDirectory(db),
    log,
    metrics,
    requestLog: createRequestLog({
      db,
      level: requestLogLevel,
      onDropped: (count) => metrics.requestLogDropped.inc(count),
      onError: (error) => void logLines.push(String(error)),
    }),
    rateLimitPerSecond: 0,
    unknownKeysPerSecond: 0,
    trustedProxies: [],
    maxConnections: 4_000,
    maxConnectionsPerAddress: 1_000,
    hasDashboard: true,
    publicUrl: () => url,
    isStopping: () => false,
    ...overrides,
  };
  const app = createApp(service, api);
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  if (clone) await seedSandbox(db, clock);

  async function createKey(options: KeyOptions = {}) {
    const key = generateApiKey(service.mode);
    const isOperator = options.scopes?.includes('operator') ?? false;
    const { accountUuid = isOperator ? null : account.id, expiresAt = null } = options;
    await storeKey(db, service, {
      key,
      accountUuid,
      name: 'Test',
      scopes: options.scopes ?? [...accountScopes],
      expiresAt,
      allowedCidrs: options.allowedCidrs ?? [],
    });
    return key;
  }

  const workers: { stop(timeoutMs: number): Promise<void> }[] = [];
  const account = await storeAccount(db, service, 'Test account');
  return {
    url,
    key: await createKey(),
    accountUuid: account.id,
    db,
    databaseUrl: address,
    clock,
    service,
    logLines,
    createKey,
    async createAccount(name) {
      const other = await storeAccount(db, service, name);
      return { accountUuid: other.id, key: await createKey({ accountUuid: other.id }) };
    },
    startWorker(network, overrides = {}) {
      const worker = startExecutionWorker({
        ...service,
        network,
        leaseMs: 30_000,
        networkTimeoutMs: 10_000,
        retryScheduleMs: [10, 10, 10],
        runners: createRunners(),
        onOutcome: (type, outcome) => service.metrics.executionCount.inc({ execution_type: type, outcome }),
        pause: { afterFailures: 5, pauseMs: 10_000 },
        onPause: (pausedMs) => service.log.warn({ pausedMs }, 'pause'),
        onStranded: (details) => service.log.warn(details, 'stranded'),
        concurrency: 32,
        pollMs: 50,
        onError: (error) => void logLines.push(String(error)),
        ...overrides,
      });
      service.signals.on('executions', worker.wake);
      workers.push(worker);
      return worker;
    },
    startSequencer(overrides = {}) {
      const sequencer = startSequencer({
        db,
        clock,
        onPositions(accountUuids) {
          for (const accountUuid of accountUuids) service.signals.announce('feed', accountUuid);
        },
        onError: (error) => void logLines.push(String(error)),
        ...overrides,
      });
      service.signals.on('deliveries', () => sequencer.wake());
      workers.push(sequencer);
      return sequencer;
    },
    startSender(overrides = {}) {
      const agents = createAccountAgents(() => createGuardedAgent(service.addressPolicy));
      const sender = startSender({
        ...service,
        dispatcherOf: agents.agentOf,
        names: createNames(),
        mayShowResponse: () => true,
        userAgent: 'Simplane/test',
        timeoutMs: 60_000, // on a busy machine an answer takes seconds, and a timeout would send again
        retryScheduleMs: [20, 40, 80],
        disableRule: { afterMs: 3_600_000, minFailures: 1_000 },
        concurrency: 64,
        random: Math.random,
        onAttempt({ delivery, outcome, at, durationMs }) {
          service.metrics.attemptDuration.observe({ outcome }, durationMs / 1_000);
          const { account_id: accountUuid, endpoint_id: endpointUuid } = delivery;
          stats.record({ accountUuid, endpointUuid, at, durationMs, isSuccess: outcome === 'succeeded' });
        },
        onDisabled: () => service.metrics.endpointsDisabled.inc(),
        onError: (error) => void logLines.push(String(error)),
        ...overrides,
      });
      service.signals.on('deliveries', sender.wake);
      workers.push({
        ...sender,
        async stop(timeoutMs) {
          await sender.stop(timeoutMs);
          await agents.destroy();
        },
      });
      return sender;
    },
    flushStats: stats.flush,
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop(0)));
      await app.close();
      await probeAgents.destroy();
      await service.requestLog.stop(1_000);
      await db.end();
      await clone?.drop();
    },
  };
}

/** The API plus operations that only the test has. */
export function apiWith(extra: { operations: object; handlers: object }) {
  return {
    operations: { ...operations, ...extra.operations },
    handlers: { ...routes, ...operatorRoutes, ...extra.handlers },
  } as unknown as Parameters<typeof createApp>[1];
}

function createTestClock(): TestClock {
  let offsetMs = 0;
  return {
    nowMs: () => Date.now() + offsetMs,
    advance: (ms) => {
      offsetMs += ms;
    },
  };
}
