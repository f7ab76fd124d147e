import type { Config } from '../config/settings.ts';
import { version } from '../config/version.ts';
import { createAccountAgents } from '../notify/webhooks/guard/account-agents.ts';
import { createGuardedAgent } from '../notify/webhooks/guard/connector.ts';
import { createNames } from '../notify/webhooks/names/names.ts';
import { mayShowResponse } from '../notify/webhooks/sender/attempt.ts';
import { createProbes } from '../notify/webhooks/sender/probes.ts';
import { startSender } from '../notify/webhooks/sender/start-sender.ts';
import { createStatsCollector } from '../notify/webhooks/stats/collect.ts';
import { uuidText } from '../platform/ids/uuid.ts';
import { every } from '../platform/worker/every.ts';
import type { Service } from './service.ts';

// What a killed process loses of the statistics.
const statsIntervalMs = 5_000;

// Deliveries of one process; a slow receiver holds one for seconds, while a fast one needs milliseconds.
const maxInFlight = 1_024;

/** How requests to webhook endpoints are sent, by the sender and as tests. */
function requestOptionsOf(config: Config) {
  return {
    names: createNames({ servers: config.webhookDnsServers }),
    mayShowResponse,
    userAgent: `Simplane/${version}`,
    timeoutMs: config.webhookTimeoutMs,
  };
}

/** Starts the webhook sender. Only tests override more than its name in leases, and whether they surely last. */
export function startWebhooks(
  service: Service,
  config: Config,
  onError: (error: unknown) => void,
  overrides: Partial<Parameters<typeof startSender>[0]> = {},
) {
  // No limit of connections to a host: an account's endpoints may share one, and the one that hangs would take them all. The
  // sender's slots limit what is in flight.
  const agents = createAccountAgents(() => createGuardedAgent(service.addressPolicy));
  const stats = createStatsCollector(service.db);
  const statsTimer = every(statsIntervalMs, stats.flush, onError);
  const sender = startSender({
    ...service,
    ...requestOptionsOf(config),
    holder: uuidText(service.newUuid()),
    isFresh: () => true,
    dispatcherOf: agents.agentOf,
    retryScheduleMs: config.webhookRetryScheduleMs,
    disableRule: disableRuleOf(config),
    concurrency: service.webhookConcurrency ?? maxInFlight,
    random: Math.random,
    onAttempt(settled) {
      const { delivery, outcome, at, durationMs } = settled;
      service.metrics.attemptDuration.observe({ outcome }, durationMs / 1_000);
      service.metrics.throughput.count(outcome === 'succeeded' ? 'attempts_succeeded' : 'attempts_failed');
      const { account_id: accountUuid, endpoint_id: endpointUuid } = delivery;
      stats.record({ accountUuid, endpointUuid, at, durationMs, isSuccess: outcome === 'succeeded' });
    },
    onDisabled(accountUuid) {
      service.metrics.endpointsDisabled.inc();
      service.signals.announce('deliveries', accountUuid); // the account's other endpoints are told of it
    },
    onError,
    ...overrides,
  });
  const unsubscribe = service.signals.on('deliveries', sender.wake);
  const endHandOver = service.handOver.onCommit(sender.take);
  return {
    wake: sender.wake,
    take: sender.take,
    interrupt: sender.interrupt,
    flushStats: stats.flush,
    async stop(timeoutMs: number) {
      unsubscribe();
      endHandOver();
      await sender.stop(timeoutMs);
      await statsTimer.stop();
      await stats.flush().catch(onError);
      await agents.destroy();
    },
  };
}

type ProbeParts = Pick<Service, 'clock' | 'clockTrouble' | 'keyring' | 'log' | 'addressPolicy'>;

/** Test requests have agents of their own, so that they neither wait for deliveries nor delay them. */
export function startProbes(parts: ProbeParts, config: Config) {
  const agents = createAccountAgents(() => createGuardedAgent(parts.addressPolicy, { connections: 4 }), 100);
  const probes = createProbes({ ...parts, ...requestOptionsOf(config), dispatcherOf: agents.agentOf });
  return {
    async send(message: Parameters<typeof probes.send>[0]) {
      const trouble = parts.clockTrouble();
      // A receiver would reject its signature, and the customer look for the cause there.
      return trouble === null ? probes.send(message) : { unsent: trouble, isFault: true };
    },
    async stop() {
      probes.stop();
      await agents.destroy();
    },
  };
}

export function disableRuleOf({ webhookDisableAfterMs, webhookDisableMinFailures }: Config) {
  return { afterMs: webhookDisableAfterMs, minFailures: webhookDisableMinFailures };
}
