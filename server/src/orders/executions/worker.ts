import { type RunResult, startWorkQueue, type WorkQueue } from '../../platform/worker/work-queue.ts';
import { createBreaker, notCalled } from './breaker.ts';
import { createClaim } from './claim.ts';
import { createGiveBack } from './give-back.ts';
import { ClaimLost, hold } from './hold.ts';
import { judge, tooManyAttempts } from './judge.ts';
import type { ClaimedExecution, Deps, ExecutionError, HeldExecution, Runners, RunOutcome } from './runner.ts';
import type { Seat } from './seats.ts';
import { createSeatSource } from './take-accepted.ts';

type Options = Deps & {
  runners: Runners;
  concurrency: number;
  pollMs: number;
  hearsAll(): boolean;
  pause: Pick<Parameters<typeof createBreaker>[0], 'afterFailures' | 'pauseMs'>;
  /** Called when the network is paused, for so long, or works again (null). */
  onPause(pausedMs: number | null): void;
  onError(error: unknown, about?: object): void;
};

type ExecutionWorker = Omit<WorkQueue, 'reserve'> & {
  /** For an order that this process is about to accept; null while there is no room, or others wait. */
  seat(): Promise<Seat | null>;
};

/** Runs executions. The rows are the queue; any process may claim any of them. */
export function startExecutionWorker(options: Options): ExecutionWorker {
  const { runners, retryScheduleMs, concurrency, pollMs, onError } = options;
  const breaker = createBreaker({
    ...options.pause,
    onChange(pausedMs) {
      options.onPause(pausedMs);
      queue.wake(); // what is due has changed
    },
  });
  const giveBack = createGiveBack(options, breaker);
  const claims = createClaim(options, breaker, giveBack.afterError);

  /** Runs a claimed execution, and acts on what the outcome means. */
  async function attempt(claimed: ClaimedExecution, stopping: AbortSignal): Promise<RunResult> {
    const runner = runners[claimed.type];
    const isPausable = runner.isPausable === true;
    const execution = hold(options, isPausable ? breaker : null, claimed, stopping);
    const tooMany = tooManyAttempts(claimed.attempts, retryScheduleMs);
    if (tooMany) return failOrWait(claimed, execution, tooMany);
    let outcome: RunOutcome;
    try {
      outcome = await runner.run(options, execution);
    } catch (error) {
      if (error instanceof ClaimLost) throw error;
      return giveBack.afterError(claimed, error);
    }
    if (outcome.kind !== 'done' || !outcome.isAnnounced)
      options.signals.announce('deliveries', claimed.account_id);
    const failures = Number(claimed.progress['failures'] ?? 0);
    const isPaused = breaker.isPaused();
    const isStopping = stopping.aborted;
    const verdict = judge({ outcome, failures, isPausable, isPaused, isStopping, retryScheduleMs });
    switch (verdict.kind) {
      case 'ended':
        return undefined;
      case 'released':
        return giveBack.atShutdown(claimed);
      case 'waits_for_network':
        return giveBack.untilNetworkWorks(claimed);
      case 'retried':
        return giveBack.afterFailure(claimed, verdict);
      case 'failed':
        return failOrWait(claimed, execution, verdict.error);
    }
  }

  /** Fails the execution, unless that takes a call and the network is paused: it would leave a profile behind. */
  async function failOrWait(
    claimed: ClaimedExecution,
    execution: HeldExecution,
    error: ExecutionError,
  ): Promise<RunResult> {
    const call: HeldExecution['call'] = async (step, make) => {
      const reply = await execution.call(step, make);
      if (reply === notCalled) throw new NetworkPaused();
      return reply;
    };
    try {
      await runners[claimed.type].fail(options, { ...execution, call }, error);
      options.signals.announce('deliveries', claimed.account_id);
      return undefined;
    } catch (thrown) {
      if (!(thrown instanceof NetworkPaused)) throw thrown;
      return giveBack.untilNetworkWorks(claimed);
    }
  }

  const queue = startWorkQueue<ClaimedExecution>({
    ...{ concurrency, pollMs, onError, claim: claims.claim, takesAllDue: true },
    // In a pause, it is a poll that claims an execution for the probe.
    hearsAll: () => options.hearsAll() && !breaker.isPaused(),
    run: (claimed, stopping) => attempt(claimed, stopping).catch(ignoreClaimLost),
  });
  const { stock, prepareOrders: prepare } = claims;
  return { ...queue, seat: createSeatSource(options, { ...queue, breaker, stock, prepare }) };
}

/** The call that a failing execution needs was not made. */
class NetworkPaused extends Error {
  override name = 'NetworkPaused';
}

function ignoreClaimLost(error: unknown): undefined {
  if (!(error instanceof ClaimLost)) throw error;
}
