import type { Config } from '../config/settings.ts';
import type { Network } from '../network/port.ts';
import { startWorkerChores } from './chores.ts';
import type { Service } from './service.ts';
import { startExecutions } from './start-executions.ts';
import { startFeed } from './start-feed.ts';
import { startWebhooks } from './start-webhooks.ts';

export type Work = {
  /** Whether it makes no calls to the network for now. */
  isPaused(): boolean;
  /** Waits for what is in flight, and gives the leases back. */
  stop(timeoutMs: number): Promise<void>;
};

/** Starts what a worker does. It can be started again after it was stopped. */
export function startWork(
  service: Service,
  config: Config,
  network: Network | null,
  onError: (error: unknown, about?: object) => void,
): Work {
  const chores = startWorkerChores(service, config, onError);
  const sequencer = startFeed(service, onError);
  // Without a key it could not encrypt matching ids, nor sign with every secret.
  const hasKeys = service.missingKeys.length === 0;
  const worker = network && hasKeys ? startExecutions(service, config, network, onError) : null;
  const sender = hasKeys ? startWebhooks(service, config, onError) : null;
  return {
    isPaused: () => worker?.isPaused() ?? false,
    async stop(timeoutMs) {
      await Promise.all([
        worker?.stop(timeoutMs),
        sender?.stop(timeoutMs),
        sequencer.stop(),
        ...chores.map((chore) => chore.stop()),
      ]);
    },
  };
}
