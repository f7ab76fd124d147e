import { fqdnPattern } from '../network/fqdn.ts';
import { defaultNotificationMap, parseNotificationMap } from '../network/notification-map.ts';
import { observedStates } from '../network/port.ts';
import { parseIccidRanges } from '../orders/esims/iccid-ranges.ts';
import {
  duration,
  durations,
  integer,
  listenAddress,
  matching,
  oneOf,
  optional,
  parseCoreUrl,
  parseGatewayStatuses,
  parseSubjects,
  setting,
  timeout,
} from './values.ts';

// A one-minute network outage must not fail any order: the sandbox retries for two minutes, live for almost two hours.
export const executionRetryDefaults = {
  sandbox: '500ms,1s,2s,4s,8s,15s,30s,60s',
  live: '1s,5s,15s,30s,1m,2m,5m,10m,30m,1h',
};

export const orderSettings = {
  iccidRanges: optional(
    'SIMPLANE_ICCID_RANGES',
    {
      takes:
        'ranges separated by commas that do not overlap, each either `from-to` with two full 19-digit ICCIDs, or a prefix of 5 to 15 digits',
      parse: parseIccidRanges,
    },
    'Your own ICCIDs, assigned in this order. When they are used up, orders fail with `out_of_stock`. Unset: the SM-DP+ chooses ICCIDs (live), or they are generated (sandbox).',
  ),
  executionRetryScheduleMs: optional(
    'SIMPLANE_EXECUTION_RETRY_SCHEDULE',
    durations,
    `Pauses between attempts while the network cannot be reached. A failure after the last pause is final. Unset: \`${executionRetryDefaults.sandbox}\` in the sandbox, \`${executionRetryDefaults.live}\` in live.`,
  ),
  executionLeaseMs: setting(
    'SIMPLANE_EXECUTION_LEASE',
    timeout,
    '30s',
    'How long a dead worker keeps an execution if no other one runs that frees it, which takes 5 s. Must be longer than `SIMPLANE_NETWORK_TIMEOUT`.',
  ),
  executionConcurrency: setting(
    'SIMPLANE_EXECUTION_CONCURRENCY',
    integer(1, 1_000),
    '128',
    'The most executions this process runs at once, which is also its most concurrent calls to the network.',
  ),
  networkTimeoutMs: setting(
    'SIMPLANE_NETWORK_TIMEOUT',
    timeout,
    '10s',
    'How long one call to the network may take before it counts as failed.',
  ),
  mockDelayMs: setting(
    'SIMPLANE_MOCK_DELAY',
    duration,
    '300ms',
    'Sandbox only: how long the mock network takes to process an order or a change.',
  ),
  coreUrl: optional(
    'SIMPLANE_CORE_URL',
    {
      takes: 'an `https://` URL (`http://` for loopback only) without user and password',
      parse: parseCoreUrl,
    },
    'Where your core network gets the service of each eSIM; see [docs/core-commands.md](core-commands.md). Unset in live: suspend and resume return 409 `core_not_connected`.',
  ),
  coreCommands: setting(
    'SIMPLANE_CORE_COMMANDS',
    oneOf('set_service', 'suspend_resume'),
    'set_service',
    '`set_service`: the core gets the state of each eSIM whenever it changes. `suspend_resume`: it gets the commands `suspend` and `resume` only, as in releases before 0.3.',
  ),
  coreSecret: optional(
    'SIMPLANE_CORE_SECRET',
    matching(/^[!-~]{32,200}$/, '32 to 200 printable characters without spaces'),
    'Signs the commands to the core. Generate one with `openssl rand -hex 32`.',
  ),
};

const pemFile = matching(/./, 'the path of a PEM file');

export const smdpSettings = {
  es2Url: optional(
    'SIMPLANE_ES2_URL',
    matching(
      /^https:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/,
      'an `https://` URL, with a path if ES2+ is not at the root',
    ),
    'Live only: the SM-DP+ that provisions eSIMs; see [docs/connect-your-smdp.md](connect-your-smdp.md). `/gsma/rsp2/es2plus/…` is appended to it.',
  ),
  es2Cert: optional(
    'SIMPLANE_ES2_CERT',
    pemFile,
    'Your client certificate for the SM-DP+, followed by its chain if it has one.',
  ),
  es2Key: optional(
    'SIMPLANE_ES2_KEY',
    pemFile,
    'The private key of `SIMPLANE_ES2_CERT`, without a passphrase.',
  ),
  es2Ca: optional(
    'SIMPLANE_ES2_CA',
    pemFile,
    'The CAs trusted to issue the SM-DP+’s certificate. Unset: the public CAs bundled with Node.',
  ),
  es2RequesterId: optional(
    'SIMPLANE_ES2_REQUESTER_ID',
    matching(/^[!-~]{1,128}$/, 'up to 128 characters without spaces'),
    'The `functionRequesterIdentifier` that the SM-DP+ assigned to you.',
  ),
  es2ProtocolVersion: setting(
    'SIMPLANE_ES2_PROTOCOL_VERSION',
    matching(/^\d{1,2}\.\d{1,2}\.\d{1,2}$/, 'a version such as `2.2.0`'),
    '2.2.0',
    'The version in `X-Admin-Protocol: gsma/rsp/v…`.',
  ),
  es2SmdpAddress: optional(
    'SIMPLANE_ES2_SMDP_ADDRESS',
    matching(fqdnPattern, 'a fully qualified domain name'),
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
    listenAddress,
    '127.0.0.1',
    'The address that receives the SM-DP+’s notifications.',
  ),
  es2ListenPort: optional(
    'SIMPLANE_ES2_LISTEN_PORT',
    integer(0, 65_535),
    'Live, roles `all` and `api`: the mutual-TLS port for `handleDownloadProgressInfo`. Unset: notifications are not received.',
  ),
  es2ListenCert: optional('SIMPLANE_ES2_LISTEN_CERT', pemFile, 'The certificate for that port.'),
  es2ListenKey: optional('SIMPLANE_ES2_LISTEN_KEY', pemFile, 'Its private key, without a passphrase.'),
  es2ListenClientCa: optional(
    'SIMPLANE_ES2_LISTEN_CLIENT_CA',
    pemFile,
    'The CAs trusted to issue the SM-DP+’s client certificate. Clients of other CAs get no answer.',
  ),
  es2ListenSubjects: optional(
    'SIMPLANE_ES2_LISTEN_SUBJECTS',
    { takes: 'names separated by commas, such as `es2.smdp.example,Acme SM-DP+`', parse: parseSubjects },
    'The SM-DP+’s client certificates that are accepted: by their common name (CN) or a DNS name, as a whole; a certificate with several CNs only by a DNS name. Unset: every certificate of `SIMPLANE_ES2_LISTEN_CLIENT_CA`.',
  ),
};
