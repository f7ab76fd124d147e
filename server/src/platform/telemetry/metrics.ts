import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Database } from '../db/database.ts';
import { readCoreBehind, readQueues } from '../db/queues.ts';
import { watchEventLoopDelay } from './event-loop-delay.ts';
import { createThroughput } from './throughput.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** `setting` names the file that the certificate is from. */
export type CertificateEnd = { setting: string; endsAt: Date };

/** What may be impaired in this process; each returns null if it is not. */
type Troubles = Record<string, () => string | null>;

/** OpenTelemetry's names and attributes in Prometheus format: dots become underscores, the unit is a suffix. */
export function createMetrics(
  db: Database,
  certificates: () => CertificateEnd[] = () => [],
  troubles: Troubles = {},
) {
  const registry = new Registry();
  const registers = [registry];

  const requests = createRequestMetrics(registers);
  // From 0, because `increase` does not see a series' first value: an error that happens once would go unnoticed.
  requests.errorCount.inc({ error_type: 'internal' }, 0);
  const work = createWorkMetrics(registers);
  describeProcess(registers);
  describePool(registers, db);
  describeQueues(registers, db);
  describeCore(registers, db);
  describeCertificates(registers, certificates);
  describeTroubles(registers, troubles);
  return { registry, ...requests, ...work, throughput: createThroughput() };
}

/** What clients do and get. */
function createRequestMetrics(registers: Registry[]) {
  return {
    requestDuration: new Histogram({
      name: 'http_server_request_duration_seconds',
      help: 'Duration of HTTP requests, from the first byte read to the last byte written.',
      labelNames: ['http_request_method', 'http_route', 'http_response_status_code'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    errorCount: new Counter({
      name: 'simplane_http_errors_total',
      help: 'Failed requests by error code.',
      labelNames: ['error_type'],
      registers,
    }),
    replayCount: new Counter({
      name: 'simplane_idempotent_replays_total',
      help: 'Writes answered with the stored response of an earlier request.',
      registers,
    }),
    connectionsCut: new Counter({
      name: 'simplane_http_connections_cut_total',
      help: 'Client connections refused or closed to protect the process, by the limit that was exceeded.',
      labelNames: ['reason'],
      registers,
    }),
    requestLogDropped: new Counter({
      name: 'simplane_request_log_dropped_total',
      help: 'Requests that the request log does not have, because too many waited to be written or writing failed.',
      registers,
    }),
    signInsRefused: new Counter({
      name: 'simplane_sign_ins_refused_total',
      help: 'Sign-ins to the dashboard that were refused, by error code.',
      labelNames: ['reason'],
      registers,
    }),
  };
}

/** What is done in the background. */
function createWorkMetrics(registers: Registry[]) {
  return {
    executionCount: new Counter({
      name: 'simplane_executions_total',
      help: 'Executions that ended or were postponed because of a network failure, by type and outcome.',
      labelNames: ['execution_type', 'outcome'],
      registers,
    }),
    attemptDuration: new Histogram({
      name: 'simplane_delivery_attempt_duration_seconds',
      help: 'Duration of delivery attempts, by outcome of the delivery.',
      labelNames: ['outcome'],
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
      registers,
    }),
    endpointsDisabled: new Counter({
      name: 'simplane_webhook_endpoints_disabled_total',
      help: 'Webhook endpoints that were disabled because they kept failing.',
      registers,
    }),
    backgroundFailureCount: new Counter({
      name: 'simplane_background_failures_total',
      help: 'Failures in background work; each is retried.',
      registers,
    }),
    reportCount: new Counter({
      name: 'simplane_network_reports_total',
      help: 'Notifications received from a live network, by outcome: `taken`, `passed_on` to another cell, or `unknown`.',
      labelNames: ['outcome'],
      registers,
    }),
    cellRequestCount: new Counter({
      name: 'simplane_cell_requests_total',
      help: 'Requests to other cells, by cell and outcome: `answered`, or why there was no answer.',
      labelNames: ['cell', 'outcome'],
      registers,
    }),
    networkPaused: new Gauge({
      name: 'simplane_network_paused',
      help: '1 while this process makes no calls to the SM-DP+ because its gateway reported it as down; else 0.',
      registers,
    }),
    clockSkew: new Gauge({
      name: 'simplane_clock_skew_seconds',
      help: 'How far the clock of this process’s machine is ahead of PostgreSQL’s, negative if behind. Measured every 5 s.',
      registers,
    }),
  };
}

/** Read from the database at each scrape, so every process reports the same value; no value if the query fails. */
function describeQueues(registers: Registry[], db: Database): void {
  new Gauge({
    name: 'simplane_queue_oldest_due_seconds',
    help: 'How long the oldest due work has waited; 0 if nothing is due. Failing endpoints do not count.',
    labelNames: ['queue'],
    registers,
    async collect() {
      this.reset();
      const queues = await readQueues(db).catch(() => []);
      for (const { queue, oldest_due_seconds } of queues) this.set({ queue }, oldest_due_seconds);
    },
  });
}

function describeCore(registers: Registry[], db: Database): void {
  new Gauge({
    name: 'simplane_core_behind_seconds',
    help: 'How long the operator’s core has not had the newest state of an eSIM; 0 if it has all but those that it refused.',
    registers,
    async collect() {
      this.remove(); // `reset` would report 0
      const behindSeconds = await readCoreBehind(db).catch(() => undefined);
      if (behindSeconds !== undefined) this.set(behindSeconds ?? 0);
    },
  });
}

function describeCertificates(registers: Registry[], list: () => CertificateEnd[]): void {
  new Gauge({
    name: 'simplane_certificate_days_left',
    help: 'Days until a certificate in use expires, by the setting that names its file; of several CAs in a file, the last.',
    labelNames: ['setting'],
    registers,
    collect() {
      this.reset();
      for (const { setting, endsAt } of list()) {
        this.set({ setting }, (endsAt.getTime() - Date.now()) / 86_400_000);
      }
    },
  });
}

function describeTroubles(registers: Registry[], troubles: Troubles): void {
  new Gauge({
    name: 'simplane_impaired',
    help: '1 while this is impaired in this process, as its /readyz says; else 0.',
    labelNames: ['what'],
    registers,
    collect() {
      for (const [what, trouble] of Object.entries(troubles)) this.set({ what }, trouble() === null ? 0 : 1);
    },
  });
}

function describePool(registers: Registry[], db: Database): void {
  new Gauge({
    name: 'db_client_connection_count',
    help: 'Connections to PostgreSQL by state.',
    labelNames: ['db_client_connection_state'],
    registers,
    collect() {
      this.set({ db_client_connection_state: 'idle' }, db.pool.idleCount);
      this.set({ db_client_connection_state: 'used' }, db.pool.totalCount - db.pool.idleCount);
    },
  });
  const waiting = 'Statements waiting for a connection.';
  gauge(registers, 'db_client_connection_pending_requests', waiting, () => db.pool.waitingCount);
}

function describeProcess(registers: Registry[]): void {
  const delay = 'Event loop delay, 99th percentile since the last scrape.';
  gauge(registers, 'nodejs_eventloop_delay_p99_seconds', delay, watchEventLoopDelay());
  gauge(registers, 'process_memory_usage_bytes', 'Resident memory of the process.', process.memoryUsage.rss);
  new Counter({
    name: 'process_cpu_time_seconds_total',
    help: 'CPU time of the process by mode.',
    labelNames: ['cpu_mode'],
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc({ cpu_mode: 'user' }, user / 1e6);
      this.inc({ cpu_mode: 'system' }, system / 1e6);
    },
  });
  gauge(registers, 'process_uptime_seconds', 'How long the process has been running.', process.uptime);
}

/** One value, read at each scrape. */
function gauge(registers: Registry[], name: string, help: string, read: () => number): void {
  new Gauge({
    name,
    help,
    registers,
    collect() {
      this.set(read());
    },
  });
}
