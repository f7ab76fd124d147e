import { sandboxKeyPattern } from '../accounts/api-key-text.ts';
import { fqdnPattern } from '../network/fqdn.ts';
import { defaultNotificationMap, parseNotificationMap } from '../network/notification-map.ts';
import { observedStates } from '../network/port.ts';
import { parseEncryptionKeys } from '../secrets/encryption-keys.ts';
import { parseIccidRanges } from './iccid-ranges.ts';
import {
  duration,
  durations,
  integer,
  type Kind,
  matching,
  oneOf,
  parseCidrs,
  parseCoreUrl,
  parseDnsServers,
  timeout,
} from './values.ts';

export type Setting<T> = { name: string; kind: Kind<T>; fallback: string; about: string };

function setting<T>(name: string, kind: Kind<T>, fallback: string, about: string): Setting<T> {
  return { name, kind, fallback, about };
}

// A network that is down for a minute must fail nothing: the sandbox waits two minutes in all, live almost two hours.
export const executionRetryDefaults = {
  sandbox: '500ms,1s,2s,4s,8s,15s,30s,60s',
  live: '1s,5s,15s,30s,1m,2m,5m,10m,30m,1h',
};

const aFile = matching(/./, 'a file in PEM');

export const webhookDefaults = {
  // So that a developer sees the whole story in minutes.
  sandbox: {
    retrySchedule: '1s,2s,4s,8s,16s,32s,60s,120s',
    disableAfter: '30s',
    disableMinFailures: 6,
    endpointLimit: 1_000,
  },
  live: {
    retrySchedule: '5s,5m,30m,2h,5h,10h,14h,20h,24h',
    disableAfter: '5d',
    disableMinFailures: 20,
    endpointLimit: 100,
  },
};

/** Every setting there is. An empty fallback means "unset"; the table in the docs is generated from here. */
export const settings = {
  host: setting(
    'HOST',
    matching(/^[^\s]+$/, 'an address or host name to listen on'),
    '127.0.0.1',
    'Where the API listens.',
  ),
  port: setting('PORT', integer(0, 65_535), '4000', 'The API’s port; 0 takes a free one.'),
  databaseUrl: setting(
    'DATABASE_URL',
    matching(/^postgres(ql)?:\/\//, 'a `postgresql://` address'),
    '',
    'A PostgreSQL 14 or newer; several hosts as libpq has it, `postgresql://user:password@a:5432,b:5432/database?target_session_attrs=read-write`. Unset: an embedded PostgreSQL in the data folder.',
  ),
  databaseDirectUrl: setting(
    'SIMPLANE_DATABASE_DIRECT_URL',
    matching(/^postgres(ql)?:\/\//, 'a `postgresql://` address'),
    '',
    'The same database without a pooler between, for `LISTEN` alone. Needed only when `DATABASE_URL` leads through one; unset, processes behind a pooler find each other’s work by polling.',
  ),
  mode: setting(
    'SIMPLANE_MODE',
    oneOf('sandbox', 'live'),
    'sandbox',
    'One deployment is one mode with its own database, so a test key can only ever reach a sandbox.',
  ),
  role: setting(
    'SIMPLANE_ROLE',
    oneOf('all', 'api', 'worker'),
    'all',
    'What this process does. Any number of processes of any role share one `DATABASE_URL`.',
  ),
  dataDir: setting(
    'SIMPLANE_DATA_DIR',
    matching(/./, 'a folder'),
    '.simplane',
    'Where the embedded PostgreSQL and the sandbox’s API key live.',
  ),
  apiKey: setting(
    'SIMPLANE_API_KEY',
    matching(
      sandboxKeyPattern,
      'a key that begins with `sp_test_` and has 16 to 192 more characters, printable and without spaces',
    ),
    '',
    'Sandbox only: a key ensured at every start, with all scopes; once revoked it stays revoked. Unset: one is made at the first start and kept in `<data folder>/sandbox-api-key`.',
  ),
  rateLimitPerSecond: setting(
    'SIMPLANE_RATE_LIMIT',
    integer(0, 1_000_000),
    '',
    'Requests per second and key in this process, with a burst of twice that; 0 is off. Unset: 0 in the sandbox, 100 in live.',
  ),
  unknownKeysPerSecond: setting(
    'SIMPLANE_UNKNOWN_KEY_LIMIT',
    integer(0, 1_000_000),
    '20',
    'Unknown API keys that this process looks up per second and client address (IPv6: per /64), with a burst of five times that; beyond, 429. Keys in use are not affected. 0 is off.',
  ),
  publicUrl: setting(
    'SIMPLANE_PUBLIC_URL',
    matching(/^https?:\/\/[^\s/]+$/, 'an `http://` or `https://` address without a path'),
    '',
    'How clients reach this deployment, for links in errors and in `/docs`. Unset: where the API listens.',
  ),
  metricsPort: setting(
    'SIMPLANE_METRICS_PORT',
    integer(0, 65_535),
    '',
    'Serves `/metrics` on a port of its own, and there only. Unset: on the API’s port, to clients on the same machine that come through no proxy. Set it wherever a proxy runs on the same machine.',
  ),
  metricsHost: setting(
    'SIMPLANE_METRICS_HOST',
    matching(/^[^\s]+$/, 'an address or host name to listen on'),
    '',
    'Where `SIMPLANE_METRICS_PORT` listens. Unset: at `HOST`. Whoever reaches it reads the metrics.',
  ),
  logLevel: setting(
    'SIMPLANE_LOG_LEVEL',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'The least severe log line that is written; `info` has one line a request.',
  ),
  databasePoolSize: setting(
    'SIMPLANE_DATABASE_POOL_SIZE',
    integer(1, 500),
    '16',
    'Connections to PostgreSQL that this process keeps at most.',
  ),
  mockDelayMs: setting(
    'SIMPLANE_MOCK_DELAY',
    duration,
    '300ms',
    'Sandbox only: how long the mock network takes for an order or a change.',
  ),
  networkTimeoutMs: setting(
    'SIMPLANE_NETWORK_TIMEOUT',
    timeout,
    '10s',
    'How long one call to the network may take before it counts as failed.',
  ),
  executionRetryScheduleMs: setting(
    'SIMPLANE_EXECUTION_RETRY_SCHEDULE',
    durations,
    '',
    `Pauses between attempts while the network cannot be reached; one more failure after the last is final. Unset: \`${executionRetryDefaults.sandbox}\` in the sandbox, \`${executionRetryDefaults.live}\` in live.`,
  ),
  executionLeaseMs: setting(
    'SIMPLANE_EXECUTION_LEASE',
    timeout,
    '30s',
    'How long a worker that went silent keeps an execution before another takes it over. Longer than `SIMPLANE_NETWORK_TIMEOUT`.',
  ),
  executionConcurrency: setting(
    'SIMPLANE_EXECUTION_CONCURRENCY',
    integer(1, 1_000),
    '128',
    'Executions that this process carries out at once, and so the most calls that it has under way at the network.',
  ),
  iccidRanges: setting(
    'SIMPLANE_ICCID_RANGES',
    {
      takes:
        'ranges separated by commas that do not overlap, each `from-to` with two whole ICCIDs of 19 digits, or the 5 to 15 digits that all its numbers begin with',
      parse: parseIccidRanges,
    },
    '',
    'Your own ICCIDs to give out, one by one in this order; when they are used up, orders fail with `out_of_stock`. Unset: the SM-DP+ chooses them (live), or they are made up (sandbox).',
  ),
  coreUrl: setting(
    'SIMPLANE_CORE_URL',
    {
      takes: 'an `https://` address (`http://` for loopback only) without user and password',
      parse: parseCoreUrl,
    },
    '',
    'Where commands to your core network are sent: suspend and resume. Unset in live: these answer 409 `core_not_connected`.',
  ),
  coreSecret: setting(
    'SIMPLANE_CORE_SECRET',
    matching(/^[!-~]{32,200}$/, '32 to 200 printable characters without spaces'),
    '',
    'What commands to the core are signed with; make one with `openssl rand -hex 32`.',
  ),
  es2Url: setting(
    'SIMPLANE_ES2_URL',
    matching(
      /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      'an `https://` address, with a path when ES2+ is not at the root',
    ),
    '',
    'Live only: the SM-DP+ that provisions, [docs/connect-your-smdp.md](connect-your-smdp.md). `/gsma/rsp2/es2plus/…` is added to it.',
  ),
  es2Cert: setting(
    'SIMPLANE_ES2_CERT',
    aFile,
    '',
    'Our certificate for the SM-DP+, followed by its chain if it has one.',
  ),
  es2Key: setting(
    'SIMPLANE_ES2_KEY',
    aFile,
    '',
    'The private key of `SIMPLANE_ES2_CERT`, without a passphrase.',
  ),
  es2Ca: setting(
    'SIMPLANE_ES2_CA',
    aFile,
    '',
    'Authorities that the SM-DP+’s certificate may come from. Unset: the public ones that Node brings.',
  ),
  es2RequesterId: setting(
    'SIMPLANE_ES2_REQUESTER_ID',
    matching(/^[!-~]{1,128}$/, 'up to 128 characters without spaces'),
    '',
    'The `functionRequesterIdentifier` that the SM-DP+ knows us by.',
  ),
  es2ProtocolVersion: setting(
    'SIMPLANE_ES2_PROTOCOL_VERSION',
    matching(/^\d{1,2}\.\d{1,2}\.\d{1,2}$/, 'a version such as `2.2.0`'),
    '2.2.0',
    'The version in `X-Admin-Protocol: gsma/rsp/v…`.',
  ),
  es2SmdpAddress: setting(
    'SIMPLANE_ES2_SMDP_ADDRESS',
    matching(fqdnPattern, 'a fully qualified domain name'),
    '',
    'What activation codes name when confirmOrder’s answer has no `smdpAddress`. Unset: the host of `SIMPLANE_ES2_URL`, which is often another one.',
  ),
  es2Repeats: setting(
    'SIMPLANE_ES2_REPEATS',
    oneOf('none', 'call-id'),
    'none',
    '`call-id` when the SM-DP+ answers a repeated `functionCallIdentifier` with its first answer. `none`: an order whose answer is lost is never sent again unless its ICCID is ours.',
  ),
  es2Release: setting(
    'SIMPLANE_ES2_RELEASE',
    oneOf('with-confirm', 'separately'),
    'with-confirm',
    '`separately`: confirmOrder with `releaseFlag` false, then releaseProfile.',
  ),
  es2IccidPadding: setting(
    'SIMPLANE_ES2_ICCID_PADDING',
    oneOf('none', 'F'),
    'none',
    '`F`: an ICCID of 19 digits is sent with an `F` at its end. What comes back may have one either way.',
  ),
  es2NotificationMap: setting(
    'SIMPLANE_ES2_NOTIFICATION_MAP',
    {
      takes: `points and what they mean, such as \`3=downloaded,4=installed,5=deleted\`, out of ${oneOf(...observedStates).takes}`,
      parse: parseNotificationMap,
    },
    defaultNotificationMap,
    'What the SM-DP+’s `notificationPointId` means; others are passed over.',
  ),
  es2ListenHost: setting(
    'SIMPLANE_ES2_LISTEN_HOST',
    matching(/^[^\s]+$/, 'an address or host name to listen on'),
    '127.0.0.1',
    'Where the SM-DP+’s notifications are received.',
  ),
  es2ListenPort: setting(
    'SIMPLANE_ES2_LISTEN_PORT',
    integer(0, 65_535),
    '',
    'Live, roles `all` and `api`: the port for `handleDownloadProgressInfo`, with mutual TLS. Unset: notifications are not received.',
  ),
  es2ListenCert: setting('SIMPLANE_ES2_LISTEN_CERT', aFile, '', 'The certificate of that port.'),
  es2ListenKey: setting('SIMPLANE_ES2_LISTEN_KEY', aFile, '', 'Its private key, without a passphrase.'),
  es2ListenClientCa: setting(
    'SIMPLANE_ES2_LISTEN_CLIENT_CA',
    aFile,
    '',
    'Authorities that the SM-DP+’s client certificate may come from. Anybody else gets no answer at all.',
  ),
  encryptionKeys: setting(
    'SIMPLANE_ENCRYPTION_KEYS',
    { takes: 'keys separated by commas, each 32 bytes in base64', parse: parseEncryptionKeys },
    '',
    'For secrets at rest (AES-256-GCM): the first encrypts, all decrypt. Required in live. Unset in a sandbox: one is made and kept in `<data folder>/encryption-key`; processes on several machines must be given the same.',
  ),
  webhookRetryScheduleMs: setting(
    'SIMPLANE_WEBHOOK_RETRY_SCHEDULE',
    durations,
    '',
    `Pauses between attempts to deliver an event. Unset: \`${webhookDefaults.sandbox.retrySchedule}\` in the sandbox, \`${webhookDefaults.live.retrySchedule}\` in live.`,
  ),
  webhookDisableAfterMs: setting(
    'SIMPLANE_WEBHOOK_DISABLE_AFTER',
    duration,
    '',
    `How long an endpoint may keep failing before it is disabled. Unset: \`${webhookDefaults.sandbox.disableAfter}\` in the sandbox, \`${webhookDefaults.live.disableAfter}\` in live.`,
  ),
  webhookDisableMinFailures: setting(
    'SIMPLANE_WEBHOOK_DISABLE_MIN_FAILURES',
    integer(1, 1_000_000),
    '',
    `How many attempts must have failed in that time as well. Unset: ${webhookDefaults.sandbox.disableMinFailures} in the sandbox, ${webhookDefaults.live.disableMinFailures} in live.`,
  ),
  webhookAllowCidrs: setting(
    'SIMPLANE_WEBHOOK_ALLOW_CIDRS',
    {
      takes: '`none`, or networks separated by commas, such as `10.1.0.0/16,fd00:1::/32`',
      parse: parseCidrs,
    },
    '',
    'Networks besides the public ones that webhooks may be sent to. Unset: none, but a sandbox that listens on loopback allows loopback and private addresses; a hosted sandbox behind a proxy sets `none`.',
  ),
  webhookDnsServers: setting(
    'SIMPLANE_WEBHOOK_DNS_SERVERS',
    {
      takes: 'addresses separated by commas, such as `9.9.9.9,[2620:fe::fe]:53`',
      parse: parseDnsServers,
    },
    '',
    'DNS servers for the host names in webhook URLs, such as ones that know public names only. Unset: those in `/etc/resolv.conf`, with its search list.',
  ),
  webhookEndpointLimit: setting(
    'SIMPLANE_WEBHOOK_ENDPOINT_LIMIT',
    integer(1, 1_000_000),
    '',
    `Webhook endpoints per account. Unset: ${webhookDefaults.sandbox.endpointLimit} in the sandbox, ${webhookDefaults.live.endpointLimit} in live.`,
  ),
  webhookTimeoutMs: setting(
    'SIMPLANE_WEBHOOK_TIMEOUT',
    timeout,
    '15s',
    'How long one attempt to deliver may take in all.',
  ),
  webhookConcurrency: setting(
    'SIMPLANE_WEBHOOK_CONCURRENCY',
    integer(2, 10_000),
    '1024',
    'Deliveries that this process has in flight at most; endpoints that have not proven themselves get half of it.',
  ),
  retentionMs: setting(
    'SIMPLANE_RETENTION',
    duration,
    '30d',
    'How long events, deliveries and attempts are kept.',
  ),
  headersTimeoutMs: setting(
    'SIMPLANE_HEADERS_TIMEOUT',
    timeout,
    '10s',
    'How long a client may take to send a request’s headers.',
  ),
  requestTimeoutMs: setting(
    'SIMPLANE_REQUEST_TIMEOUT',
    timeout,
    '30s',
    'How long a client may take to send a whole request.',
  ),
  drainTimeoutMs: setting(
    'SIMPLANE_DRAIN_TIMEOUT',
    timeout,
    '20s',
    'How long a client may read nothing of its answer before the connection is closed.',
  ),
  maxConnections: setting(
    'SIMPLANE_MAX_CONNECTIONS',
    integer(1, 1_000_000),
    '4000',
    'Client connections that this process has at most; more are closed at once. An idle one takes about 10 kB of memory.',
  ),
  shutdownTimeoutMs: setting(
    'SIMPLANE_SHUTDOWN_TIMEOUT',
    timeout,
    '20s',
    'How long requests and orders in flight may take to finish after SIGTERM. In live not shorter than `SIMPLANE_NETWORK_TIMEOUT`.',
  ),
};

export type Values = {
  [K in keyof typeof settings]: (typeof settings)[K] extends Setting<infer T> ? T | null : never;
};
type Optional =
  | 'databaseUrl'
  | 'databaseDirectUrl'
  | 'apiKey'
  | 'metricsPort'
  | 'metricsHost'
  | 'publicUrl'
  | 'es2Url'
  | 'es2Cert'
  | 'es2Key'
  | 'es2Ca'
  | 'es2RequesterId'
  | 'es2SmdpAddress'
  | 'es2ListenPort'
  | 'es2ListenCert'
  | 'es2ListenKey'
  | 'es2ListenClientCa'
  | 'encryptionKeys'
  | 'iccidRanges'
  | 'coreUrl'
  | 'coreSecret'
  | 'webhookAllowCidrs'
  | 'webhookDnsServers';

/** What the process runs with; only what has no sensible default can be null. */
export type Config = { [K in keyof Values]: K extends Optional ? Values[K] : NonNullable<Values[K]> };
