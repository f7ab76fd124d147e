import type { Logger } from 'pino';
import { createKeyDirectory } from '../accounts/key-directory.ts';
import { addressPolicyOf } from '../config/address-policy.ts';
import { coreModeOf } from '../config/core-mode-of.ts';
import type { Config } from '../config/settings.ts';
import { version } from '../config/version.ts';
import { createHandOver } from '../notify/events/hand-over.ts';
import { createSeats } from '../orders/executions/seats.ts';
import { createCells } from '../platform/cells/ask-cells.ts';
import type { Clock } from '../platform/clock.ts';
import type { Connection } from '../platform/db/connect.ts';
import type { Database } from '../platform/db/database.ts';
import { createSignals } from '../platform/db/signals.ts';
import type { NewUuid } from '../platform/ids/uuid-v7.ts';
import type { createClockSkew } from '../platform/processes/clock-skew.ts';
import {
  claimSealingKey,
  describeMissingKeys,
  refuseSealing,
} from '../platform/secrets/claim-sealing-key.ts';
import { readEncryptionKeys } from '../platform/secrets/encryption-keys.ts';
import { createKeyring } from '../platform/secrets/keyring.ts';
import { createOldFormCheck } from '../platform/secrets/old-form.ts';
import { describeCause } from '../platform/telemetry/describe-cause.ts';
import { type CertificateEnd, createMetrics } from '../platform/telemetry/metrics.ts';
import { createRequestLog } from '../views/request-log/buffer.ts';
import type { Service } from './service.ts';
import { startProbes } from './start-webhooks.ts';

/** What is known of this process only once it runs. */
export type State = { url: string; isStopping: boolean; isHeartbeatLate(): boolean };

type Parts = {
  clock: Clock;
  certificates(): CertificateEnd[];
  newUuid: NewUuid;
  skew: ReturnType<typeof createClockSkew>;
  state: State;
};

/** The parts that requests and background work share. */
export async function createService(
  config: Config,
  connection: Connection,
  log: Logger,
  { clock, certificates, newUuid, skew, state }: Parts,
) {
  const { db } = connection;
  const lateHeartbeat = 'no heartbeat of this process could be stored for some time';
  const writeTrouble = () => db.writeTrouble() ?? (state.isHeartbeatLate() ? lateHeartbeat : null);
  const { trouble: clockTrouble } = skew;
  const metrics = createMetrics(db, certificates, { writes: writeTrouble, clock: clockTrouble });
  const onError = createErrorHandler({ metrics, log });
  const purpose = config.role === 'api' ? 'readers' : 'signals';
  const { keyring, missingKeys } = await openKeyring(config, db, log);
  const addressPolicy = addressPolicyOf(config);
  const connectionString = listenUrlOf(config, connection, log);
  const signals = createSignals({ db, connectionString, purpose, onError });
  return {
    ...config,
    ...config.retired,
    requiresCheckDigit: config.es2IccidCheck === 'luhn',
    core: coreModeOf(config),
    cells: createCells({ peers: otherCells(config), userAgent: `Simplane/${version}`, log, metrics }),
    db,
    clock,
    clockTrouble,
    writeTrouble,
    newUuid,
    signals,
    handOver: createHandOver(signals),
    seats: createSeats(),
    feedReaders: new Set<() => boolean>(),
    keyring,
    addressPolicy,
    probes: startProbes({ clock, clockTrouble, keyring, log, addressPolicy }, config),
    endpointLimit: config.webhookEndpointLimit,
    keys: createKeyDirectory(db),
    log,
    metrics,
    hasDashboard: config.dashboard === 'on',
    requestLog: createRequestLog({
      db,
      level: config.requestLogLevel,
      onDropped: (count) => metrics.requestLogDropped.inc(count),
      onError,
    }),
    missingKeys,
    publicUrl: () => config.publicUrl ?? state.url,
    isStopping: () => state.isStopping,
  } satisfies Service;
}

/** The list may be the same in all cells, so it has this one too. */
function otherCells({ cell: own, cells }: Config) {
  return (cells ?? []).filter(({ cell }) => cell !== own);
}

export function createErrorHandler({ metrics, log }: Pick<Service, 'metrics' | 'log'>) {
  return (error: unknown, about: object = {}) => {
    metrics.backgroundFailureCount.inc();
    log.warn({ ...about, cause: describeCause(error) }, 'background work failed; it will be retried');
  };
}

/** Null if other processes cannot be listened to. */
function listenUrlOf(
  { databaseDirectUrl, role }: Config,
  connection: Connection,
  log: Logger,
): string | null {
  const listenUrl = databaseDirectUrl ?? (connection.isPooled ? null : connection.connectionString);
  if (listenUrl === null && role !== 'api') {
    log.warn(
      'DATABASE_URL goes through a pooler and SIMPLANE_DATABASE_DIRECT_URL is not set: work from other processes is found by polling, up to two seconds late',
    );
  }
  return listenUrl;
}

/** If a key is missing that stored secrets may need, the keyring seals nothing. */
async function openKeyring(config: Config, db: Database, log: Logger) {
  const encryptionKeys = await readEncryptionKeys(config);
  const missingKeys = await claimSealingKey(db, encryptionKeys);
  const keyring = createKeyring(encryptionKeys, { isOldFormRefused: createOldFormCheck(db) });
  if (missingKeys.length === 0) return { keyring, missingKeys };
  log.error(
    { missing_keys: missingKeys },
    `${describeMissingKeys(missingKeys)}; until then /readyz fails, and no orders and webhooks are processed and no secrets stored here`,
  );
  return { keyring: refuseSealing(keyring, missingKeys), missingKeys };
}
