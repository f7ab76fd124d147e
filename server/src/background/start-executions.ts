import type { Config } from '../config/settings.ts';
import type { Network } from '../network/port.ts';
import type { Deps } from '../orders/executions/runner.ts';
import { startExecutionWorker } from '../orders/executions/worker.ts';
import { returnProfiles } from '../orders/operator/return-profiles.ts';
import { uuidText } from '../platform/ids/uuid.ts';
import type { Chore } from './chores.ts';
import { createRunners } from './execution-runners.ts';
import type { Service } from './service.ts';

/** Starts the worker that carries out executions on this network. Only tests override more than its name in leases. */
export function startExecutions(
  service: Service,
  config: Config,
  network: Network,
  onError: (error: unknown) => void,
  overrides: Partial<Parameters<typeof startExecutionWorker>[0]> = {},
) {
  const runners = createRunners(config.iccidRanges, service.core, service.cell);
  // One gateway error may be a restart; five in a row are an outage. Ten seconds are short beside the retries of an order.
  const { networkPauseAfter = 5, networkPauseMs = 10_000 } = service;
  countFromZero(service, Object.keys(runners));
  let isPaused = false;
  service.metrics.networkPaused.set(0); // it may have been stopped in a pause
  const worker = startExecutionWorker({
    ...service,
    holder: uuidText(service.newUuid()),
    network,
    onOutcome: outcomeCounter(service),
    onStranded: (details) =>
      service.log.warn(
        details,
        'an order failed, but the network may have reserved a profile for it; look up its call id there',
      ),
    leaseMs: config.executionLeaseMs,
    networkTimeoutMs: config.networkTimeoutMs,
    retryScheduleMs: config.executionRetryScheduleMs,
    runners,
    pause: { afterFailures: networkPauseAfter, pauseMs: networkPauseMs },
    onPause(pausedMs) {
      isPaused = pausedMs !== null;
      service.metrics.networkPaused.set(pausedMs === null ? 0 : 1);
      if (pausedMs === null) service.log.info('the network answers again; orders continue');
      else
        service.log.warn(
          { paused_ms: pausedMs },
          'the network is paused: its gateway reported several times in a row that it is down; orders wait',
        );
    },
    concurrency: config.executionConcurrency,
    pollMs: 1_000,
    hearsAll: service.signals.hearsAll,
    onError,
    ...overrides,
  });
  const unsubscribe = service.signals.on('executions', worker.wake);
  const endSeats = service.seats.offer(worker.seat);
  return {
    ...worker,
    isPaused: () => isPaused,
    async stop(timeoutMs: number) {
      unsubscribe();
      endSeats();
      await worker.stop(timeoutMs);
    },
  };
}

/** Gives back profiles that an operator has decided to cancel. */
export function returnsChore(
  { db, clock }: Service,
  { networkTimeoutMs, executionRetryScheduleMs: retryScheduleMs }: Config,
  network: Network,
  onError: (error: unknown) => void,
): Chore {
  const parts = { db, clock, network, networkTimeoutMs, retryScheduleMs, onError };
  return { when: 'returns', run: (stopping) => returnProfiles(parts, stopping) };
}

const outcomes = ['succeeded', 'failed', 'postponed'] as const;

/** Counts executions that end or wait, for the metrics and the figures of the last minutes. */
export function outcomeCounter({ metrics }: Pick<Service, 'metrics'>): Deps['onOutcome'] {
  return (type, outcome) => {
    metrics.executionCount.inc({ execution_type: type, outcome });
    if (outcome !== 'postponed') metrics.throughput.count(`executions_${outcome}`);
  };
}

/** `increase` does not see a series' first value, so a small operator's only failed order would go unnoticed. */
function countFromZero({ metrics }: Service, types: string[]): void {
  for (const execution_type of types) {
    for (const outcome of outcomes) metrics.executionCount.inc({ execution_type, outcome }, 0);
  }
}
