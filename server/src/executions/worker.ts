import type { ExecutionErrorCode, ExecutionType } from '@simplane/contract';
import type { Clock } from '../clock.ts';
import type { Database, Queryable } from '../db/database.ts';
import type { Call, Network, Refusal, Reply } from '../network/port.ts';
import type { NewUuid } from '../uuid-v7.ts';
import { type RunResult, startWorkQueue, type WorkQueue } from '../worker/work-queue.ts';
import {
  type ClaimedExecution,
  claimExecutionRows,
  type ExecutionError,
  finish,
  postpone,
  releaseClaim,
  saveProgress,
} from './sql.ts';

/** What carrying out executions needs. */
export type Means = {
  db: Database;
  clock: Clock;
  newUuid: NewUuid;
  network: Network;
  leaseMs: number;
  /** How long one call to the network may take. */
  networkTimeoutMs: number;
  /** Pauses before the second, third, … attempt; one more failure after the last is final. */
  retryScheduleMs: number[];
};

/**
 * How a runner ends: it has settled the execution itself, or lost it to another worker (`done`); or the network kept it
 * from doing so (`failed`): then it is tried again later, and `giveUp` is called when no attempt is left.
 */
export type RunOutcome = { kind: 'done' } | { kind: 'failed'; reason: Refusal };

export type Runner = {
  /** For a whole batch before any is run, where one statement can serve them all. */
  prepare?(means: Means, executions: ClaimedExecution[]): Promise<void>;
  run(means: Means, execution: HeldExecution): Promise<RunOutcome>;
  giveUp(means: Means, execution: HeldExecution, error: ExecutionError): Promise<void>;
};

/** An execution together with what only its holder may do. Every write fails once another worker has taken it over. */
export type HeldExecution = ClaimedExecution & {
  /** One step at the network: `step` names its call id, time is bounded. */
  call<Result>(step: string, make: (call: Call) => Promise<Reply<Result>>): Promise<Reply<Result>>;
  /** A recovery point; false when the execution is no longer ours. */
  save(progress: object): Promise<boolean>;
  /** The end, in the transaction of what was done; false when it is no longer ours, and the transaction must not commit. */
  finish(tx: Queryable, error: ExecutionError | null): Promise<boolean>;
};

export type { ClaimedExecution, ExecutionError } from './sql.ts';

type Options = Means & {
  runners: Record<ExecutionType, Runner>;
  concurrency: number;
  pollMs: number;
  onError(error: unknown): void;
};

/** Carries out executions: the rows are the queue, every process may take any of them. */
export function startExecutionWorker(options: Options): WorkQueue {
  const { db, runners, leaseMs, concurrency, pollMs, onError } = options;
  return startWorkQueue({
    concurrency,
    pollMs,
    onError,
    async claim(count) {
      const executions = await claimExecutionRows(db, count, leaseMs);
      for (const [type, runner] of Object.entries(runners)) {
        const ofType = executions.filter((execution) => execution.type === type);
        if (ofType.length > 0) await runner.prepare?.(options, ofType);
      }
      return executions;
    },
    run: (execution, stopping) => runOne(options, execution, stopping),
  });
}

async function runOne(
  options: Options,
  claimed: ClaimedExecution,
  stopping: AbortSignal,
): Promise<RunResult> {
  const runner = options.runners[claimed.type];
  const execution = hold(options, claimed, stopping);
  const outcome = await runner.run(options, execution);
  if (outcome.kind === 'done') return undefined;
  if (stopping.aborted) {
    await releaseClaim(options.db, claimed); // we cut the call off, not the network: the attempt does not count
    return undefined;
  }
  const delayMs = options.retryScheduleMs[claimed.attempts - 1];
  if (delayMs === undefined) {
    await runner.giveUp(options, execution, exhausted(outcome.reason, claimed.attempts));
    return undefined;
  }
  await postpone(options.db, claimed, delayMs);
  return { againInMs: delayMs };
}

function hold(options: Options, claimed: ClaimedExecution, stopping: AbortSignal): HeldExecution {
  const { db, clock, leaseMs, networkTimeoutMs } = options;
  return {
    ...claimed,
    /**
     * A driver should end its call by the signal. One that does not is left behind: the execution goes on without it,
     * and the call id makes a late success of the abandoned call harmless.
     */
    call: (step, make) => {
      const signal = AbortSignal.any([AbortSignal.timeout(networkTimeoutMs), stopping]);
      const cutOff = new Promise<Reply<never>>((resolve) => {
        signal.addEventListener('abort', () => resolve(noAnswer), { once: true });
      });
      return Promise.race([make({ id: `${claimed.id}.${step}`, attempt: claimed.attempts, signal }), cutOff]);
    },
    save: (progress) => saveProgress(db, claimed, progress, leaseMs),
    finish: (tx, error) => finish(tx, claimed, { error, at: new Date(clock.nowMs()) }),
  };
}

const noAnswer: Reply<never> = {
  kind: 'failed',
  reason: { code: 'network_unavailable', message: 'The network did not answer in time.' },
};

/** A refusal as an execution shows it. */
export function errorOf(reason: Refusal, retryable = false): ExecutionError {
  const code: ExecutionErrorCode = reason.code;
  return { code, message: reason.message, retryable, ...(reason.upstream && { upstream: reason.upstream }) };
}

function exhausted(reason: Refusal, attempts: number): ExecutionError {
  return {
    ...errorOf(reason, true),
    message: `The network could not be reached in ${attempts} attempts; order again later. Last: ${reason.message}`,
  };
}
