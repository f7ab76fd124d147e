import type { Logger } from 'pino';
import type { KeyDirectory } from '../accounts/key-directory.ts';
import type { CoreMode } from '../network/core-mode.ts';
import type { HandOver } from '../notify/events/hand-over.ts';
import type { Probing } from '../notify/webhooks/sender/probes.ts';
import type { Seats } from '../orders/executions/seats.ts';
import type { AddressPolicy } from '../platform/addresses/address-policy.ts';
import type { Cell } from '../platform/cell.ts';
import type { Cells } from '../platform/cells/ask-cells.ts';
import type { Clock } from '../platform/clock.ts';
import type { Database } from '../platform/db/database.ts';
import type { Signals } from '../platform/db/signals.ts';
import type { NewUuid } from '../platform/ids/uuid-v7.ts';
import type { Keyring } from '../platform/secrets/keyring.ts';
import type { Metrics } from '../platform/telemetry/metrics.ts';
import type { RequestLog } from '../views/request-log/buffer.ts';

/** The parts of one server process. `create-service.ts` builds it; tests build it with their own clock. */
export type Service = Probing &
  Overrides & {
    mode: 'sandbox' | 'live';
    cell: Cell;
    /** The other cells. */
    cells: Cells;
    core: CoreMode;
    /** Whether ICCIDs of the network must have a valid check digit. */
    requiresCheckDigit: boolean;
    role: 'all' | 'api' | 'worker';
    db: Database;
    clock: Clock;
    /** Why this process does no work in the background and signs nothing, if its machine's clock is wrong. */
    clockTrouble(): string | null;
    /** Why writes fail now; null if they do not, as far as this process has noticed. */
    writeTrouble(): string | null;
    newUuid: NewUuid;
    signals: Signals;
    handOver: HandOver;
    seats: Seats;
    /** Whether somebody in this process follows a feed; the sequencer then hurries. */
    feedReaders: Set<() => boolean>;
    keyring: Keyring;
    /** Ids of encryption keys that stored secrets may need and this process does not have. It is then not ready. */
    missingKeys: string[];
    addressPolicy: AddressPolicy;
    endpointLimit: number;
    /** Older usage records are refused. */
    usageMaxAgeMs: number;
    keys: KeyDirectory;
    log: Logger;
    metrics: Metrics;
    requestLog: RequestLog;
    rateLimitPerSecond: number;
    /** Networks of proxies whose `X-Forwarded-For` is believed. */
    trustedProxies: readonly string[];
    maxConnections: number;
    /** Of one client address (IPv6: /64). Trusted proxies have no such limit, but each of their clients has. */
    maxConnectionsPerAddress: number;
    /** Whether `/dashboard` is served. */
    hasDashboard: boolean;
    /** The URL clients use. Without `SIMPLANE_PUBLIC_URL` it is known only once the server listens. */
    publicUrl(): string;
    isStopping(): boolean;
  };

/** What is otherwise a constant beside the code that uses it. Tests set these. */
type Overrides = {
  headersTimeoutMs?: number;
  requestTimeoutMs?: number;
  drainTimeoutMs?: number;
  unknownKeysPerSecond?: number;
  streamsPerKey?: number;
  streamsTotal?: number;
  streamBeatMs?: number;
  networkPauseAfter?: number;
  networkPauseMs?: number;
  webhookConcurrency?: number;
};
