import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { accountScopes, operations, type Scope } from '@simplane/contract';
import { generateApiKey } from '../../src/accounts/api-key-text.ts';
import { storeKey } from '../../src/accounts/issue-key.ts';
import { createKeyDirectory } from '../../src/accounts/key-directory.ts';
import { seedSandbox } from '../../src/accounts/products/sandbox-catalog.ts';
import { storeAccount } from '../../src/accounts/store-account.ts';
import { createErrorHandler } from '../../src/background/create-service.ts';
import type { Service } from '../../src/background/service.ts';
import { startCore } from '../../src/background/start-core.ts';
import { startExecutions } from '../../src/background/start-executions.ts';
import { startProbes, startWebhooks } from '../../src/background/start-webhooks.ts';
import { startFeed } from '../../src/background/start-work.ts';
import { readConfig } from '../../src/config/read-config.ts';
import { createApp } from '../../src/http/app.ts';
import { operatorRoutes } from '../../src/http/operator-routes.ts';
import { routes } from '../../src/http/routes.ts';
import type { Core, Network } from '../../src/network/port.ts';
import { createHandOver } from '../../src/notify/events/hand-over.ts';
import type { Sequencer, startSequencer } from '../../src/notify/feed/sequencer.ts';
import type { Sender, startSender } from '../../src/notify/webhooks/sender/start-sender.ts';
import { createSeats } from '../../src/orders/executions/seats.ts';
import type { startExecutionWorker } from '../../src/orders/executions/worker.ts';
import type { startCoreSender } from '../../src/orders/service/start-core-sender.ts';
import { createCells } from '../../src/platform/cells/ask-cells.ts';
import { type Database, openDatabase } from '../../src/platform/db/database.ts';
import { createUuidV7 } from '../../src/platform/ids/uuid-v7.ts';
import { createKeyring } from '../../src/platform/secrets/keyring.ts';
import { createLog } from '../../src/platform/telemetry/log.ts';
import { createMetrics } from '../../src/platform/telemetry/metrics.ts';
import type { WorkQueue } from '../../src/platform/worker/work-queue.ts';
import { createRequestLog, type RequestLogLevel } from '../../src/views/request-log/buffer.ts';
import { cloneDatabase } from './database.ts';
import { watchStatements } from './watch-statements.ts';

/** The defaults, but quick: tests wait for retries, and on a busy machine an answer takes seconds. */
const config = {
  ...readConfig({}).config,
  executionRetryScheduleMs: [10, 10, 10],
  executionConcurrency: 32,
  webhookRetryScheduleMs: [20, 40, 80],
  webhookTimeoutMs: 60_000, // a timeout would send again
  webhookDisableAfterMs: 3_600_000,
  webhookDisableMinFailures: 1_000,
};

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
  startWorker(
    network: Network,
    overrides?: Partial<Parameters<typeof startExecutionWorker>[0]>,
  ): Omit<WorkQueue, 'reserve'>;
  /** Sends the service of eSIMs to this core. Only a service with `core: 'state'` queues it. */
  startCore(core: Core, overrides?: Partial<Parameters<typeof startCoreSender>[0]>): WorkQueue;
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
  const metrics = createMetrics(db);
  const onError = createErrorHandler({ metrics, log });
  const probes = startProbes({ clock, clockTrouble: () => null, keyring, log, addressPolicy }, config);
  const signals: Service['signals'] = {
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
    setAlone: () => {},
    hearsAll: () => false,
    stop: async () => {},
  };
  const service: Service = {
    mode: 'sandbox',
    cell: null,
    cells: createCells({ peers: [], userAgent: 'Simplane/test', log, metrics }),
    core: 'mock',
    requiresCheckDigit: false,
    role: 'all',
    db,
    clock,
    clockTrouble: () => null,
    writeTrouble: db.writeTrouble,
    newUuid,
    signals,
    handOver: createHandOver(signals),
    seats: createSeats(),
    feedReaders: new Set<() => boolean>(),
    keyring,
    missingKeys: [],
    addressPolicy,
    probes,
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
    const key = generateApiKey(service.mode, service.cell);
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
  const senders: { flushStats(): Promise<void> }[] = [];
  function kept<Worker extends (typeof workers)[number]>(worker: Worker): Worker {
    workers.push(worker);
    return worker;
  }
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
    startWorker: (network, overrides) =>
      kept(startExecutions(service, config, network, onError, { pollMs: 50, ...overrides })),
    startCore: (core, overrides) =>
      kept(startCore(service, config, core, onError, { pollMs: 50, ...overrides })),
    startSequencer: (overrides) => kept(startFeed(service, onError, overrides)),
    startSender(overrides) {
      const sender = startWebhooks(service, config, onError, { mayShowResponse: () => true, ...overrides });
      senders.push(sender);
      return kept(sender);
    },
    async flushStats() {
      for (const sender of senders) await sender.flushStats();
    },
    async stop() {
      await Promise.all(workers.map((worker) => worker.stop(0)));
      await app.close();
      await probes.stop();
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
