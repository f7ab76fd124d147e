import { sandboxKeyPattern } from '../accounts/api-key-text.ts';
import { fqdnPattern } from '../network/fqdn.ts';
import { defaultNotificationMap, parseNotificationMap } from '../network/notification-map.ts';
import { observedStates } from '../network/port.ts';
import { parseIccidRanges } from '../orders/esims/iccid-ranges.ts';
import { parseEncryptionKeys } from '../platform/secrets/encryption-keys.ts';
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
  parseGatewayStatuses,
  parseSubjects,
  portOrOff,
  timeout,
} from './values.ts';

export type Setting<T> = { name: string; kind: Kind<T>; fallback: string; about: string };

function setting<T>(name: string, kind: Kind<T>, fallback: string, about: string): Setting<T> {
  return { name, kind, fallback, about };
}

// A one-minute network outage must not fail any order: the sandbox retries for two minutes, live for almost two hours.
export const executionRetryDefaults = {
  sandbox: '500ms,1s,2s,4s,8s,15s,30s,60s',
  live: '1s,5s,15s,30s,1m,2m,5m,10m,30m,1h',
};

const pemFile = matching(/./, 'the path of a PEM file');

export const webhookDefaults = {
  // Short, so that a developer sees retries and disabling within minutes.
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

/** All settings. An empty fallback means "unset". docs/configuration.md is generated from this table. */
export const settings = {
  host: setting(
    'HOST',
    matching(/^[^\s]+$/, 'an address or host name to listen on'),
    '127.0.0.1',
    'The address the API listens on.',
  ),
  port: setting('PORT', integer(0, 65_535), '4000', 'The API’s port; 0 picks a free one.'),
  databaseUrl: setting(
    'DATABASE_URL',
    matching(/^postgres(ql)?:\/\//, 'a `postgresql://` URL'),
    '',
    'PostgreSQL 14 or newer. Several hosts are written as in libpq: `postgresql://user:password@a:5432,b:5432/database?target_session_attrs=read-write`. Unset: an embedded PostgreSQL in the data folder.',
  ),
  databaseDirectUrl: setting(
    'SIMPLANE_DATABASE_DIRECT_URL',
    matching(/^postgres(ql)?:\/\//, 'a `postgresql://` URL'),
    '',
    'The same database without a pooler, used only for `LISTEN`. Set it only if `DATABASE_URL` goes through a pooler. Unset: processes behind a pooler find each other’s work by polling.',
  ),
  mode: setting(
    'SIMPLANE_MODE',
    oneOf('sandbox', 'live'),
    'sandbox',
    'Each deployment has one mode and its own database, so a test key works only in a sandbox.',
  ),
  role: setting(
    'SIMPLANE_ROLE',
    oneOf('all', 'api', 'worker'),
    'all',
    'What this process does: serve the API, run the background work, or both. Any number of processes can share one `DATABASE_URL`.',
  ),
  dataDir: setting(
    'SIMPLANE_DATA_DIR',
    matching(/./, 'a folder'),
    '.simplane',
    'Holds the embedded PostgreSQL and the sandbox’s API key.',
  ),
  apiKey: setting(
    'SIMPLANE_API_KEY',
    matching(
      sandboxKeyPattern,
      'a key that begins with `sp_test_` and has 16 to 192 more characters, printable and without spaces',
    ),
    '',
    'Sandbox only: an API key with all scopes, created at startup if it does not exist. A revoked key stays revoked. Unset: the first start generates one and stores it in `<data folder>/sandbox-api-key`.',
  ),
  rateLimitPerSecond: setting(
    'SIMPLANE_RATE_LIMIT',
    integer(0, 1_000_000),
    '',
    'Requests per second per key in this process, with a burst of twice that. 0 turns the limit off. Unset: 0 in the sandbox, 100 in live.',
  ),
  unknownKeysPerSecond: setting(
    'SIMPLANE_UNKNOWN_KEY_LIMIT',
    integer(0, 1_000_000),
    '20',
    'How many unknown API keys this process looks up per second per client address (IPv6: per /64), with a burst of five times that. Requests over the limit get 429. Known keys are not affected. 0 turns the limit off.',
  ),
  trustedProxies: setting(
    'SIMPLANE_TRUSTED_PROXIES',
    {
      takes: '`none`, or networks separated by commas, such as `10.1.0.0/16,fd00:1::/32`',
      parse: parseCidrs,
    },
    'none',
    'Networks of the proxies in front of this process. Their `X-Forwarded-For` says where a request comes from, for `allowed_cidrs` of keys, the audit log, the request log and `SIMPLANE_UNKNOWN_KEY_LIMIT`; that of any other client is ignored. Name only proxies that append the address of their client, or replace the header.',
  ),
  publicUrl: setting(
    'SIMPLANE_PUBLIC_URL',
    matching(/^https?:\/\/[^\s/]+$/, 'an `http://` or `https://` URL without a path'),
    '',
    'The URL that clients use, for links in errors, in `/docs` and to the dashboard. The dashboard is served only under its host (and loopback), and `/mcp` accepts it as an `Origin`. Unset: the address the API listens on.',
  ),
  dashboard: setting(
    'SIMPLANE_DASHBOARD',
    oneOf('on', 'off'),
    'on',
    'Whether the API’s processes serve the dashboard at `/dashboard`.',
  ),
  metricsPort: setting(
    'SIMPLANE_METRICS_PORT',
    portOrOff,
    '',
    'The port of `/metrics`, which the API’s port never serves; `off` serves no metrics. Unset: 9400, and if another process has it, this one starts without metrics and says so in its log.',
  ),
  metricsHost: setting(
    'SIMPLANE_METRICS_HOST',
    matching(/^[^\s]+$/, 'an address or host name to listen on'),
    '127.0.0.1',
    'The address the metrics’ port listens on. Set it if Prometheus runs on another machine, and let only Prometheus reach the port: anyone who can connect can read the metrics.',
  ),
  logLevel: setting(
    'SIMPLANE_LOG_LEVEL',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'The lowest level to log; `info` includes one line per request.',
  ),
  requestLogLevel: setting(
    'SIMPLANE_REQUEST_LOG',
    oneOf('off', 'errors', 'writes', 'all'),
    '',
    'Which requests `GET /v1/requests` shows, for seven days: none, those that failed, also all writes, or all. Unset: `all` in the sandbox, `errors` in live.',
  ),
  databasePoolSize: setting(
    'SIMPLANE_DATABASE_POOL_SIZE',
    integer(1, 500),
    '16',
    'The most PostgreSQL connections this process keeps open.',
  ),
  mockDelayMs: setting(
    'SIMPLANE_MOCK_DELAY',
    duration,
    '300ms',
    'Sandbox only: how long the mock network takes to process an order or a change.',
  ),
  networkTimeoutMs: setting(
    'SIMPLANE_NETWORK_TIMEOUT',
    timeout,
    '10s',
    'How long one call to the network may take before it counts as failed.',
  ),
  networkPauseAfter: setting(
    'SIMPLANE_NETWORK_PAUSE_AFTER',
    integer(0, 1_000),
    '5',
    'Live only: after this many answers in a row with HTTP 502, 503 or 504, this process makes no calls to the SM-DP+ for a while. Waiting orders use up no attempts. `0`: never.',
  ),
  networkPauseMs: setting(
    'SIMPLANE_NETWORK_PAUSE',
    timeout,
    '10s',
    'How long that pause is. Then one call is made; each that fails doubles the pause, up to six times this value.',
  ),
  executionRetryScheduleMs: setting(
    'SIMPLANE_EXECUTION_RETRY_SCHEDULE',
    durations,
    '',
    `Pauses between attempts while the network cannot be reached. A failure after the last pause is final. Unset: \`${executionRetryDefaults.sandbox}\` in the sandbox, \`${executionRetryDefaults.live}\` in live.`,
  ),
  executionLeaseMs: setting(
    'SIMPLANE_EXECUTION_LEASE',
    timeout,
    '30s',
    'How long an unresponsive worker keeps an execution before another worker takes over. Must be longer than `SIMPLANE_NETWORK_TIMEOUT`.',
  ),
  executionConcurrency: setting(
    'SIMPLANE_EXECUTION_CONCURRENCY',
    integer(1, 1_000),
    '128',
    'The most executions this process runs at once, which is also its most concurrent calls to the network.',
  ),
  iccidRanges: setting(
    'SIMPLANE_ICCID_RANGES',
    {
      takes:
        'ranges separated by commas that do not overlap, each either `from-to` with two full 19-digit ICCIDs, or a prefix of 5 to 15 digits',
      parse: parseIccidRanges,
    },
    '',
    'Your own ICCIDs, assigned in this order. When they are used up, orders fail with `out_of_stock`. Unset: the SM-DP+ chooses ICCIDs (live), or they are generated (sandbox).',
  ),
  coreUrl: setting(
    'SIMPLANE_CORE_URL',
    {
      takes: 'an `https://` URL (`http://` for loopback only) without user and password',
      parse: parseCoreUrl,
    },
    '',
    'The URL that suspend and resume commands to your core network are sent to. Unset in live: suspend and resume return 409 `core_not_connected`.',
  ),
  coreSecret: setting(
    'SIMPLANE_CORE_SECRET',
    matching(/^[!-~]{32,200}$/, '32 to 200 printable characters without spaces'),
    '',
    'Signs the commands to the core. Generate one with `openssl rand -hex 32`.',
  ),
  es2Url: setting(
    'SIMPLANE_ES2_URL',
    matching(
      /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      'an `https://` URL, with a path if ES2+ is not at the root',
    ),
    '',
    'Live only: the SM-DP+ that provisions eSIMs; see [docs/connect-your-smdp.md](connect-your-smdp.md). `/gsma/rsp2/es2plus/…` is appended to it.',
  ),
  es2Cert: setting(
    'SIMPLANE_ES2_CERT',
    pemFile,
    '',
    'Your client certificate for the SM-DP+, followed by its chain if it has one.',
  ),
  es2Key: setting(
    'SIMPLANE_ES2_KEY',
    pemFile,
    '',
    'The private key of `SIMPLANE_ES2_CERT`, without a passphrase.',
  ),
  es2Ca: setting(
    'SIMPLANE_ES2_CA',
    pemFile,
    '',
    'The CAs trusted to issue the SM-DP+’s certificate. Unset: the public CAs bundled with Node.',
  ),
  es2RequesterId: setting(
    'SIMPLANE_ES2_REQUESTER_ID',
    matching(/^[!-~]{1,128}$/, 'up to 128 characters without spaces'),
    '',
    'The `functionRequesterIdentifier` that the SM-DP+ assigned to you.',
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
    'The SM-DP+ address in activation codes when the confirmOrder response has no `smdpAddress`. Unset: the host of `SIMPLANE_ES2_URL`, which often differs.',
  ),
  es2Repeats: setting(
    'SIMPLANE_ES2_REPEATS',
    oneOf('none', 'call-id'),
    'none',
    '`call-id`: the SM-DP+ answers a repeated `functionCallIdentifier` with its first response. `none`: an order whose response was lost is never sent again unless its ICCID is from `SIMPLANE_ICCID_RANGES`.',
  ),
  es2UndoneStatuses: setting(
    'SIMPLANE_ES2_UNDONE_STATUSES',
    { takes: '`none`, or any of `502`, `503`, `504`, separated by commas', parse: parseGatewayStatuses },
    '503',
    'HTTP statuses that the gateway in front of the SM-DP+ sends only if it did not pass the request on. After one of these an order is sent again; after the others its outcome is unknown. Applies where `SIMPLANE_ES2_REPEATS` would forbid it.',
  ),
  es2Release: setting(
    'SIMPLANE_ES2_RELEASE',
    oneOf('with-confirm', 'separately'),
    'with-confirm',
    '`separately`: confirmOrder is sent with `releaseFlag` false, then releaseProfile.',
  ),
  es2IccidPadding: setting(
    'SIMPLANE_ES2_ICCID_PADDING',
    oneOf('none', 'F'),
    'none',
    '`F`: an ICCID of less than 20 digits is padded with `F` when it is sent. Received ICCIDs may be padded with either value.',
  ),
  es2IccidCheck: setting(
    'SIMPLANE_ES2_ICCID_CHECK',
    oneOf('none', 'luhn'),
    'none',
    'What is required of an ICCID that the SM-DP+ assigns, besides 18 to 20 digits. `luhn`: `89` first and a valid check digit last. An order that gets another one fails, and its profile is canceled.',
  ),
  es2NotificationMap: setting(
    'SIMPLANE_ES2_NOTIFICATION_MAP',
    {
      takes: `\`point=state\` pairs, such as \`3=downloaded,4=installed,5=deleted\`; the states are ${oneOf(...observedStates).takes}`,
      parse: parseNotificationMap,
    },
    defaultNotificationMap,
    'The eSIM state that each `notificationPointId` of the SM-DP+ means. Other points are ignored.',
  ),
  es2ListenHost: setting(
    'SIMPLANE_ES2_LISTEN_HOST',
    matching(/^[^\s]+$/, 'an address or host name to listen on'),
    '127.0.0.1',
    'The address that receives the SM-DP+’s notifications.',
  ),
  es2ListenPort: setting(
    'SIMPLANE_ES2_LISTEN_PORT',
    integer(0, 65_535),
    '',
    'Live, roles `all` and `api`: the mutual-TLS port for `handleDownloadProgressInfo`. Unset: notifications are not received.',
  ),
  es2ListenCert: setting('SIMPLANE_ES2_LISTEN_CERT', pemFile, '', 'The certificate for that port.'),
  es2ListenKey: setting('SIMPLANE_ES2_LISTEN_KEY', pemFile, '', 'Its private key, without a passphrase.'),
  es2ListenClientCa: setting(
    'SIMPLANE_ES2_LISTEN_CLIENT_CA',
    pemFile,
    '',
    'The CAs trusted to issue the SM-DP+’s client certificate. Clients of other CAs get no answer.',
  ),
  es2ListenSubjects: setting(
    'SIMPLANE_ES2_LISTEN_SUBJECTS',
    { takes: 'names separated by commas, such as `es2.smdp.example,Acme SM-DP+`', parse: parseSubjects },
    '',
    'The SM-DP+’s client certificates that are accepted: by their common name (CN) or a DNS name, as a whole; a certificate with several CNs only by a DNS name. Unset: every certificate of `SIMPLANE_ES2_LISTEN_CLIENT_CA`.',
  ),
  encryptionKeys: setting(
    'SIMPLANE_ENCRYPTION_KEYS',
    { takes: 'keys separated by commas, each 32 bytes in base64', parse: parseEncryptionKeys },
    '',
    'Encrypts secrets at rest (AES-256-GCM): the first key encrypts, all keys decrypt. Required in live. Unset in a sandbox: one is generated and stored in `<data folder>/encryption-key`. Processes on different machines need the same keys.',
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
    `How many attempts must also have failed in that time. Unset: ${webhookDefaults.sandbox.disableMinFailures} in the sandbox, ${webhookDefaults.live.disableMinFailures} in live.`,
  ),
  webhookAllowCidrs: setting(
    'SIMPLANE_WEBHOOK_ALLOW_CIDRS',
    {
      takes: '`none`, or networks separated by commas, such as `10.1.0.0/16,fd00:1::/32`',
      parse: parseCidrs,
    },
    '',
    'Non-public networks that webhooks may be sent to. Unset: none, except that a sandbox listening on loopback allows loopback and private addresses. Set `none` for a hosted sandbox behind a proxy.',
  ),
  webhookDnsServers: setting(
    'SIMPLANE_WEBHOOK_DNS_SERVERS',
    {
      takes: 'addresses separated by commas, such as `9.9.9.9,[2620:fe::fe]:53`',
      parse: parseDnsServers,
    },
    '',
    'DNS servers for the host names in webhook URLs, for example servers that resolve public names only. Unset: those in `/etc/resolv.conf`, with its search list.',
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
    'The total time that one delivery attempt may take.',
  ),
  webhookConcurrency: setting(
    'SIMPLANE_WEBHOOK_CONCURRENCY',
    integer(2, 10_000),
    '1024',
    'The most deliveries this process has in flight. Endpoints whose last attempt did not succeed get half of them.',
  ),
  retentionMs: setting(
    'SIMPLANE_RETENTION',
    duration,
    '30d',
    'How long events, deliveries, attempts, recoveries and statistics are kept.',
  ),
  usageMaxAgeMs: setting(
    'SIMPLANE_USAGE_MAX_AGE',
    duration,
    '35d',
    'Older usage records are refused as `too_old`. Records are kept a day longer, and then as one sum per eSIM and day.',
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
    'How long a client may leave its response unread before the connection is closed.',
  ),
  streamsPerKey: setting(
    'SIMPLANE_FEED_STREAMS_PER_KEY',
    integer(1, 1_000_000),
    '20',
    'The most open streams and waiting requests of the event feed that one API key may have in this process.',
  ),
  streamsTotal: setting(
    'SIMPLANE_FEED_STREAMS',
    integer(1, 1_000_000),
    '1000',
    'The most open streams and waiting requests of the event feed in this process. One account has at most a tenth of them; all operators’ keys together, too.',
  ),
  maxConnections: setting(
    'SIMPLANE_MAX_CONNECTIONS',
    integer(1, 1_000_000),
    '4000',
    'The most client connections this process keeps open. A further one replaces connections whose request has not fully arrived, or idle ones, of the address that has most; it is closed if there are none. An idle connection takes about 10 kB of memory.',
  ),
  maxConnectionsPerAddress: setting(
    'SIMPLANE_MAX_CONNECTIONS_PER_ADDRESS',
    integer(1, 1_000_000),
    '',
    'The most of these from one client address (IPv6: per /64). A further one replaces another of that address, by the same rule. Unset: a quarter of `SIMPLANE_MAX_CONNECTIONS`. It does not apply to `SIMPLANE_TRUSTED_PROXIES`, but to each of their clients. If all clients come through something else, such as a load balancer that adds no `X-Forwarded-For`, set it to `SIMPLANE_MAX_CONNECTIONS`.',
  ),
  shutdownTimeoutMs: setting(
    'SIMPLANE_SHUTDOWN_TIMEOUT',
    timeout,
    '20s',
    'How long requests and orders in flight may take to finish after SIGTERM. In live, must not be shorter than `SIMPLANE_NETWORK_TIMEOUT`.',
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
  | 'es2ListenSubjects'
  | 'encryptionKeys'
  | 'iccidRanges'
  | 'coreUrl'
  | 'coreSecret'
  | 'webhookAllowCidrs'
  | 'webhookDnsServers';

/** The resolved configuration. Only settings without a sensible default can be null. */
export type Config = { [K in keyof Values]: K extends Optional ? Values[K] : NonNullable<Values[K]> };
