import type { Logger } from 'pino';
import type { KeyDirectory } from './accounts/key-directory.ts';
import type { Clock } from './clock.ts';
import type { Database } from './db/database.ts';
import type { Signals } from './db/signals.ts';
import type { NewUuid } from './ids/uuid-v7.ts';
import type { Keyring } from './secrets/keyring.ts';
import type { Metrics } from './telemetry/metrics.ts';
import type { AddressPolicy } from './webhooks/guard/policy.ts';

/** What one process of the service is made of; `serve.ts` builds it, tests build it with a clock of their own. */
export type Service = {
  mode: 'sandbox' | 'live';
  /** Whether commands to a core network can be carried out: the mock's, or the operator's. */
  hasCore: boolean;
  role: 'all' | 'api' | 'worker';
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  signals: Signals;
  keyring: Keyring;
  addressPolicy: AddressPolicy;
  endpointLimit: number;
  keys: KeyDirectory;
  log: Logger;
  metrics: Metrics;
  rateLimitPerSecond: number;
  /** Look-ups of unknown API keys per client address. */
  unknownKeysPerSecond: number;
  headersTimeoutMs: number;
  requestTimeoutMs: number;
  /** How long a client may leave its answer unread. */
  drainTimeoutMs: number;
  maxConnections: number;
  /** Whether `/metrics` is on the API's own port, for loopback clients; else it has a port of its own. */
  metricsOnApi: boolean;
  /** How clients reach the deployment; known for sure only once it listens. */
  publicUrl(): string;
  isStopping(): boolean;
};
