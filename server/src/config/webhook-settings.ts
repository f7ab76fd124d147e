import {
  cidrs,
  duration,
  durations,
  integer,
  optional,
  parseDnsServers,
  setting,
  timeout,
} from './values.ts';

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

export const webhookSettings = {
  webhookRetryScheduleMs: optional(
    'SIMPLANE_WEBHOOK_RETRY_SCHEDULE',
    durations,
    `Pauses between attempts to deliver an event. Unset: \`${webhookDefaults.sandbox.retrySchedule}\` in the sandbox, \`${webhookDefaults.live.retrySchedule}\` in live.`,
  ),
  webhookDisableAfterMs: optional(
    'SIMPLANE_WEBHOOK_DISABLE_AFTER',
    duration,
    `How long an endpoint may keep failing before it is disabled. Unset: \`${webhookDefaults.sandbox.disableAfter}\` in the sandbox, \`${webhookDefaults.live.disableAfter}\` in live.`,
  ),
  webhookDisableMinFailures: optional(
    'SIMPLANE_WEBHOOK_DISABLE_MIN_FAILURES',
    integer(1, 1_000_000),
    `How many attempts must also have failed in that time. Unset: ${webhookDefaults.sandbox.disableMinFailures} in the sandbox, ${webhookDefaults.live.disableMinFailures} in live.`,
  ),
  webhookTimeoutMs: setting(
    'SIMPLANE_WEBHOOK_TIMEOUT',
    timeout,
    '15s',
    'The total time that one delivery attempt may take.',
  ),
  webhookEndpointLimit: optional(
    'SIMPLANE_WEBHOOK_ENDPOINT_LIMIT',
    integer(1, 1_000_000),
    `Webhook endpoints per account. Unset: ${webhookDefaults.sandbox.endpointLimit} in the sandbox, ${webhookDefaults.live.endpointLimit} in live.`,
  ),
  webhookAllowCidrs: optional(
    'SIMPLANE_WEBHOOK_ALLOW_CIDRS',
    cidrs,
    'Non-public networks that webhooks may be sent to. Unset: none, except that a sandbox listening on loopback allows loopback and private addresses. Set `none` for a hosted sandbox behind a proxy.',
  ),
  webhookDnsServers: optional(
    'SIMPLANE_WEBHOOK_DNS_SERVERS',
    {
      takes: 'addresses separated by commas, such as `9.9.9.9,[2620:fe::fe]:53`',
      parse: parseDnsServers,
    },
    'DNS servers for the host names in webhook URLs, for example servers that resolve public names only. Unset: those in `/etc/resolv.conf`, with its search list.',
  ),
};
