import { sandboxKeyPattern } from '../accounts/api-key-text.ts';
import { cellPattern } from '../platform/cell.ts';
import { parseEncryptionKeys } from '../platform/secrets/encryption-keys.ts';
import { parseCellAddresses } from './cell-addresses.ts';
import {
  cidrs,
  countOrAuto,
  duration,
  integer,
  listenAddress,
  matching,
  oneOf,
  optional,
  portOrOff,
  setting,
  timeout,
} from './values.ts';

export const processSettings = {
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
  processes: setting(
    'SIMPLANE_PROCESSES',
    countOrAuto,
    '1',
    'How many processes `serve` starts in this role, which share its port; `auto` is one for each core. One that ends is replaced. Limits and sizes that are for a process are for each of them.',
  ),
  host: setting('HOST', listenAddress, '127.0.0.1', 'The address the API listens on.'),
  port: setting('PORT', integer(0, 65_535), '4000', 'The API’s port; 0 picks a free one.'),
  publicUrl: optional(
    'SIMPLANE_PUBLIC_URL',
    matching(/^https?:\/\/[^\s/]+$/, 'an `http://` or `https://` URL without a path'),
    'The URL that clients use, for links in errors, in `/docs` and to the dashboard. The dashboard is served only under its host (and loopback), and `/mcp` accepts it as an `Origin`. Unset: the address the API listens on.',
  ),
  cell: optional(
    'SIMPLANE_CELL',
    matching(cellPattern, 'two to eight letters from `a` to `z`'),
    'The label of this deployment if it is one of several behind the same address ([cells](cells.md)). New keys, sessions, sign-in links and install links have it in their text, so that a router sends each request to its deployment. The same for all processes of the deployment. Unset: no label.',
  ),
  cells: optional(
    'SIMPLANE_CELLS',
    {
      takes:
        'URLs separated by commas, each with an operator’s key of that cell as its password: `https://:KEY@10.0.1.10:4000`',
      parse: parseCellAddresses,
    },
    'The addresses of all cells ([cells](cells.md#what-has-no-key)): the operator’s overview and search ask them, and usage records and notifications for their eSIMs are passed on to them. The label in a key says which cell it is; the entry of this cell is left out, so the list can be the same everywhere. `http` only for loopback and private addresses. Unset: this cell asks no other.',
  ),
  dataDir: setting(
    'SIMPLANE_DATA_DIR',
    matching(/./, 'a folder'),
    '.simplane',
    'Holds the embedded PostgreSQL and the sandbox’s API key.',
  ),
  databaseUrl: optional(
    'DATABASE_URL',
    matching(/^postgres(ql)?:\/\//, 'a `postgresql://` URL'),
    'PostgreSQL 14 or newer. Several hosts are written as in libpq: `postgresql://user:password@a:5432,b:5432/database?target_session_attrs=read-write`. Unset: an embedded PostgreSQL in the data folder.',
  ),
  databaseDirectUrl: optional(
    'SIMPLANE_DATABASE_DIRECT_URL',
    matching(/^postgres(ql)?:\/\//, 'a `postgresql://` URL'),
    'The same database without a pooler, used only for `LISTEN`. Set it only if `DATABASE_URL` goes through a pooler. Unset: processes behind a pooler find each other’s work by polling.',
  ),
  databasePoolSize: setting(
    'SIMPLANE_DATABASE_POOL_SIZE',
    integer(1, 500),
    '16',
    'The most PostgreSQL connections this process keeps open.',
  ),
  encryptionKeys: optional(
    'SIMPLANE_ENCRYPTION_KEYS',
    { takes: 'keys separated by commas, each 32 bytes in base64', parse: parseEncryptionKeys },
    'Encrypts secrets at rest (AES-256-GCM): the first key encrypts, all keys decrypt. Required in live. Unset in a sandbox: one is generated and stored in `<data folder>/encryption-key`. Processes on different machines need the same keys.',
  ),
  retentionMs: setting(
    'SIMPLANE_RETENTION',
    duration,
    '30d',
    'How long events, deliveries, attempts, recoveries and statistics are kept.',
  ),
  shutdownTimeoutMs: setting(
    'SIMPLANE_SHUTDOWN_TIMEOUT',
    timeout,
    '20s',
    'How long requests and orders in flight may take to finish after SIGTERM. In live, must not be shorter than `SIMPLANE_NETWORK_TIMEOUT`.',
  ),
};

export const apiSettings = {
  apiKey: optional(
    'SIMPLANE_API_KEY',
    matching(
      sandboxKeyPattern,
      'a key that begins with `sp_test_` and has 16 to 192 more characters, printable and without spaces',
    ),
    'Sandbox only: an API key with all scopes, created at startup if it does not exist. A revoked key stays revoked. Unset: the first start generates one and stores it in `<data folder>/sandbox-api-key`.',
  ),
  dashboard: setting(
    'SIMPLANE_DASHBOARD',
    oneOf('on', 'off'),
    'on',
    'Whether the API’s processes serve the dashboard at `/dashboard`.',
  ),
  trustedProxies: setting(
    'SIMPLANE_TRUSTED_PROXIES',
    cidrs,
    'none',
    'Networks of the proxies in front of this process. Their `X-Forwarded-For` says where a request comes from, for `allowed_cidrs` of keys, the audit log, the request log and the limits per address; that of any other client is ignored. Name only proxies that append the address of their client, or replace the header.',
  ),
  rateLimitPerSecond: optional(
    'SIMPLANE_RATE_LIMIT',
    integer(0, 1_000_000),
    'Requests per second per key in this process, with a burst of twice that. 0 turns the limit off. Unset: 0 in the sandbox, 100 in live.',
  ),
  maxConnections: setting(
    'SIMPLANE_MAX_CONNECTIONS',
    integer(1, 1_000_000),
    '4000',
    'The most client connections this process keeps open. A further one replaces connections whose request has not fully arrived, or idle ones, of the address that has most; it is closed if there are none. An idle connection takes about 10 kB of memory.',
  ),
  maxConnectionsPerAddress: optional(
    'SIMPLANE_MAX_CONNECTIONS_PER_ADDRESS',
    integer(1, 1_000_000),
    'The most of these from one client address (IPv6: per /64). A further one replaces another of that address, by the same rule. Unset: a quarter of `SIMPLANE_MAX_CONNECTIONS`. It does not apply to `SIMPLANE_TRUSTED_PROXIES`, but to each of their clients. If all clients come through something else, such as a load balancer that adds no `X-Forwarded-For`, set it to `SIMPLANE_MAX_CONNECTIONS`.',
  ),
  usageMaxAgeMs: setting(
    'SIMPLANE_USAGE_MAX_AGE',
    duration,
    '35d',
    'Older usage records are refused as `too_old`. Records are kept a day longer, and then as one sum per eSIM and day.',
  ),
};

export const monitoringSettings = {
  logLevel: setting(
    'SIMPLANE_LOG_LEVEL',
    oneOf('debug', 'info', 'warn', 'error', 'silent'),
    'info',
    'The lowest level to log; `info` includes one line per request.',
  ),
  requestLogLevel: optional(
    'SIMPLANE_REQUEST_LOG',
    oneOf('off', 'errors', 'writes', 'all'),
    'Which requests `GET /v1/requests` shows, for seven days: none, those that failed, also all writes, or all. Unset: `all` in the sandbox, `errors` in live.',
  ),
  metricsPort: optional(
    'SIMPLANE_METRICS_PORT',
    portOrOff,
    'The port of `/metrics`, which the API’s port never serves; `off` serves no metrics. Unset: 9400, and if another process has it, this one starts without metrics and says so in its log.',
  ),
  metricsHost: setting(
    'SIMPLANE_METRICS_HOST',
    listenAddress,
    '127.0.0.1',
    'The address the metrics’ port listens on. Set it if Prometheus runs on another machine, and let only Prometheus reach the port: anyone who can connect can read the metrics.',
  ),
};
