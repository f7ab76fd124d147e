import { idPrefixes } from '@simplane/contract';
import { idOfUuid } from '../../platform/ids/uuid.ts';
import type { RunResult } from '../../platform/worker/work-queue.ts';
import type { Breaker } from './breaker.ts';
import { takeUnsaved } from './hold.ts';
import { internalCause, type WithLastError } from './last-error.ts';
import type { Deps } from './runner.ts';
import { type ClaimedExecution, release, type Wait } from './sql/queue.ts';

type Options = Pick<Deps, 'db' | 'clock' | 'leaseMs' | 'onOutcome'> & {
  onError(error: unknown, about?: object): void;
};

// Due a little before the pause ends, so that an execution that has begun can be chosen for the probe.
const dueEarlyMs = 500;

/** Why a worker gives an execution back before it has ended, and how long it waits. Stores what the attempt has noted. */
export function createGiveBack({ db, clock, leaseMs, onOutcome, onError }: Options, breaker: Breaker) {
  const giveBack = (execution: ClaimedExecution, wait: Wait) =>
    release(db, execution, { ...wait, progress: { ...takeUnsaved(execution), ...wait.progress } });

  return {
    /** Due now, so that other workers find it immediately. */
    async atShutdown(execution: ClaimedExecution): Promise<RunResult> {
      await giveBack(execution, { delayMs: 0, waitingFor: null, isUncounted: true });
      return undefined;
    },

    async untilNetworkWorks(execution: ClaimedExecution): Promise<RunResult> {
      const againInMs = breaker.waitMs();
      await giveBack(execution, {
        delayMs: againInMs - dueEarlyMs,
        waitingFor: 'network',
        isUncounted: true,
      });
      return { againInMs };
    },

    async afterFailure(
      execution: ClaimedExecution,
      { delayMs, failures }: { delayMs: number; failures: number },
    ): Promise<RunResult> {
      await giveBack(execution, { delayMs, waitingFor: 'network', progress: { failures } });
      onOutcome(execution.type, 'postponed');
      return { againInMs: delayMs };
    },

    /** After an error of ours. */
    async afterError(execution: ClaimedExecution, error: unknown): Promise<RunResult> {
      const { id, type, attempts } = execution;
      onError(error, { execution_id: idOfUuid(idPrefixes.execution, id), type, attempts });
      const delayMs = Math.min(leaseMs, 1_000 * 2 ** Math.min(attempts, 10));
      const progress: WithLastError = { last_error: internalCause(error, clock.nowMs()) };
      await giveBack(execution, { delayMs, waitingFor: 'internal', progress });
      return { againInMs: delayMs };
    },
  };
}
