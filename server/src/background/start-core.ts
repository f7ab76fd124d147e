import type { Config } from '../config/settings.ts';
import type { Core } from '../network/port.ts';
import { startCoreSender } from '../orders/service/start-core-sender.ts';
import { uuidText } from '../platform/ids/uuid.ts';
import type { Service } from './service.ts';
import { outcomeCounter } from './start-executions.ts';

// A core that takes 100 ms for a command then gets 320 a second of each process.
const concurrency = 32;

/** Starts sending the service of eSIMs to the operator's core. Only tests override more than its name in leases. */
export function startCore(
  service: Service,
  config: Config,
  core: Core,
  onError: (error: unknown) => void,
  overrides: Partial<Parameters<typeof startCoreSender>[0]> = {},
) {
  const { db, clock, newUuid, signals, log, networkPauseAfter = 5, networkPauseMs = 10_000 } = service;
  const sender = startCoreSender({
    ...{ db, clock, newUuid, signals, core, concurrency, onError },
    holder: uuidText(newUuid()),
    leaseMs: config.executionLeaseMs,
    timeoutMs: config.networkTimeoutMs,
    retryScheduleMs: config.executionRetryScheduleMs,
    pollMs: 1_000,
    pause: { afterFailures: networkPauseAfter, pauseMs: networkPauseMs },
    onOutcome: outcomeCounter(service),
    onPause(pausedMs) {
      if (pausedMs === null) log.info('the core answers again; the service of eSIMs is sent');
      else log.warn({ paused_ms: pausedMs }, 'the core is paused: it failed several times in a row');
    },
    ...overrides,
  });
  // Whoever writes events announces the account's deliveries; a change without an event is found by the poll.
  const unsubscribe = signals.on('deliveries', (subject) => {
    if (!subject?.includes('/')) sender.wake();
  });
  return {
    ...sender,
    async stop(timeoutMs: number) {
      unsubscribe();
      await sender.stop(timeoutMs);
    },
  };
}
