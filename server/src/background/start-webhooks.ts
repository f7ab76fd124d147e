import type { Config } from '../config/settings.ts';
import { version } from '../config/version.ts';
import type { Service } from '../service.ts';
import { createAccountAgents } from '../webhooks/guard/account-agents.ts';
import { createGuardedAgent } from '../webhooks/guard/connector.ts';
import { createNames } from '../webhooks/names/names.ts';
import { mayShowResponse } from '../webhooks/sender/response-privacy.ts';
import { startSender } from '../webhooks/sender/start-sender.ts';

/** Starts the webhook sender. */
export function startWebhooks(service: Service, config: Config, onError: (error: unknown) => void) {
  // One connection per delivery that an endpoint may have in flight.
  const agents = createAccountAgents(() => createGuardedAgent(service.addressPolicy, { connections: 64 }));
  const sender = startSender({
    ...service,
    dispatcherOf: agents.agentOf,
    names: createNames({ servers: config.webhookDnsServers }),
    mayShowResponse,
    userAgent: `Simplane/${version}`,
    timeoutMs: config.webhookTimeoutMs,
    retryScheduleMs: config.webhookRetryScheduleMs,
    disableRule: disableRuleOf(config),
    concurrency: config.webhookConcurrency,
    random: Math.random,
    onAttempt: ({ outcome, durationMs }) =>
      service.metrics.attemptDuration.observe({ outcome }, durationMs / 1_000),
    onDisabled: () => service.metrics.endpointsDisabled.inc(),
    onError,
  });
  service.signals.on('deliveries', sender.wake);
  return {
    async stop(timeoutMs: number) {
      await sender.stop(timeoutMs);
      await agents.destroy();
    },
  };
}

export function disableRuleOf({ webhookDisableAfterMs, webhookDisableMinFailures }: Config) {
  return { afterMs: webhookDisableAfterMs, minFailures: webhookDisableMinFailures };
}
