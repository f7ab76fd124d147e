import type { Logger } from 'pino';
import { deployment } from '../accounts/deployment.ts';
import type { Config } from '../config/settings.ts';
import type { Core, Network } from '../network/port.ts';
import { startSequencer } from '../notify/feed/sequencer.ts';
import { queueForDeployment } from '../notify/webhooks/deployment-deliveries.ts';
import { placeInOrder } from '../notify/webhooks/ordered/place-in-order.ts';
import { endAbandonedLeases } from '../notify/webhooks/sender/start-sender.ts';
import { releaseOrphanedExecutions } from '../orders/executions/runner.ts';
import type { Database } from '../platform/db/database.ts';
import { uuidText } from '../platform/ids/uuid.ts';
import { describeCause } from '../platform/telemetry/describe-cause.ts';
import { runWhenWoken } from '../platform/worker/wake.ts';
import { startChores, workerChores } from './chores.ts';
import type { Service } from './service.ts';
import { startCore } from './start-core.ts';
import { returnsChore, startExecutions } from './start-executions.ts';
import { startWebhooks } from './start-webhooks.ts';
import { createWorkerBeat } from './worker-beat.ts';

export type Work = {
  /** Whether it makes no calls to the core, or to the network that provisions, for now. */
  isPaused(kind: 'core' | 'network'): boolean;
  /** Waits for what is in flight, and gives the leases back. */
  stop(timeoutMs: number): Promise<void>;
};

/** Starts what a worker does. It can be started again after it was stopped. */
export function startWork(
  service: Service,
  config: Config,
  { network, core }: { network: Network | null; core: Core | null },
  onError: (error: unknown, about?: object) => void,
): Work {
  const sequencer = startFeed(service, onError);
  // Without a key it could not encrypt matching ids, nor sign with every secret.
  const hasKeys = service.missingKeys.length === 0;
  const holder = uuidText(service.newUuid());
  const onLost = () => {
    // Whoever sees a webhook twice finds the reason here.
    service.log.warn(
      'no beat of this worker has reached PostgreSQL for seconds, so another one may take over: what it sends is cut off and sent again',
    );
    sender?.interrupt();
  };
  const beat = createWorkerBeat({ ...service, worker: holder, onLost });
  const worker = network && hasKeys ? startExecutions(service, config, network, onError, { holder }) : null;
  const returns = network && hasKeys ? [returnsChore(service, config, network, onError)] : [];
  const chores = startChores([...workerChores(service, config, onError), ...returns], beat.beat, onError);
  const coreSender =
    core && service.core === 'state' ? startCore(service, config, core, onError, { holder }) : null;
  const sender = hasKeys ? startWebhooks(service, config, onError, { holder, isFresh: beat.isFresh }) : null;
  return {
    isPaused: (kind) => (kind === 'core' ? coreSender : worker)?.isPaused() ?? false,
    async stop(timeoutMs) {
      await Promise.all([
        worker?.stop(timeoutMs),
        coreSender?.stop(timeoutMs),
        sender?.stop(timeoutMs),
        sequencer.stop(),
        chores.stop(),
      ]);
      beat.stop();
    },
  };
}

/** Starts giving events their positions in the feed, and ordered deliveries theirs. Only tests override parts of it. */
export function startFeed(
  service: Service,
  onError: (error: unknown) => void,
  overrides: Partial<Parameters<typeof startSequencer>[0]> = {},
) {
  const { db, clock, signals, feedReaders } = service;
  // After an error, a chore does it.
  const placer = runWhenWoken(() => placeInOrder(service), onError);
  const listeners = runWhenWoken(() => queueForDeployment(service), onError);
  const sequencer = startSequencer({
    db,
    clock,
    onPositions({ accountUuids, hasWaiting, hasListeners }) {
      for (const accountUuid of [...accountUuids, deployment.uuid]) signals.announce('feed', accountUuid);
      if (hasWaiting) placer.wake();
      if (hasListeners) listeners.wake();
    },
    hasReaders: () => [...feedReaders].some((has) => has()),
    hearsAll: signals.hearsAll,
    onError,
    ...overrides,
  });
  // Whoever writes events announces the account's deliveries. A longer subject is a retry or an enabled endpoint, and the deployment's
  // are made here.
  const unsubscribe = signals.on('deliveries', (subject) => {
    if (subject !== deployment.uuid && !subject?.includes('/')) sequencer.wake();
  });
  const endFollowing = service.handOver.onTaken(sequencer.wake);
  return {
    wake: sequencer.wake,
    async stop() {
      unsubscribe();
      endFollowing();
      await sequencer.stop();
      await placer.stop();
      await listeners.stop();
    },
  };
}

/**
 * Releases the claims of a dead process instead of waiting for their leases to expire. Only for the sole owner of an embedded
 * database, before it starts any work; on a shared database the other process may still be running.
 */
export async function releaseOrphanedClaims(db: Database, log: Logger): Promise<void> {
  try {
    const executions = await releaseOrphanedExecutions(db);
    const endpoints = await endAbandonedLeases(db);
    if (executions + endpoints > 0) {
      log.info({ executions, endpoints }, 'released the claims of an earlier process');
    }
  } catch (error) {
    // Not fatal, because the leases expire anyway.
    log.warn({ cause: describeCause(error) }, 'claims of an earlier process were not released');
  }
}
