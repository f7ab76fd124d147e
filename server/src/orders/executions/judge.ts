import type { Refusal } from '../../network/port.ts';
import { notCalled } from './breaker.ts';
import { type ExecutionError, errorOf, type RunOutcome } from './runner.ts';

/** What happens to an execution after an attempt. `released`: the shutdown aborted its call. */
export type Verdict =
  | { kind: 'ended' | 'released' | 'waits_for_network' }
  | { kind: 'retried'; delayMs: number; failures: number }
  | { kind: 'failed'; error: ExecutionError };

type Attempt = {
  outcome: RunOutcome;
  /** Network failures of earlier attempts. */
  failures: number;
  isStopping: boolean;
  isPausable: boolean;
  /** Whether the network is paused now. */
  isPaused: boolean;
  retryScheduleMs: readonly number[];
};

/** Only answers that fail or are lost use up the retry schedule; our own crashes, and a network that cannot be reached, do not. */
export function judge({ outcome, isStopping, isPausable, isPaused, ...attempt }: Attempt): Verdict {
  if (outcome.kind === 'done') return { kind: 'ended' };
  if (isStopping) return { kind: 'released' };
  // Nothing was sent, so the order waits for the network however long that takes.
  const wasNotSent = outcome.reason === notCalled.reason || (isPausable && outcome.isUnreached);
  if (wasNotSent || (outcome.isDown && isPaused)) return { kind: 'waits_for_network' };
  const failures = attempt.failures + 1;
  const delayMs = attempt.retryScheduleMs[failures - 1];
  if (delayMs !== undefined) return { kind: 'retried', delayMs, failures };
  // The last attempt is made again after the pause: now nothing could be rolled back.
  if (isPausable && isPaused) return { kind: 'waits_for_network' };
  return { kind: 'failed', error: attemptsExhausted(outcome.reason, failures) };
}

function attemptsExhausted(reason: Refusal, failures: number): ExecutionError {
  return {
    ...errorOf(reason, true),
    message: `The network failed ${failures} times; try again later. Last error: ${reason.message}`,
  };
}

/** The error of an execution that was tried too often. Also bounds an order that crashes its worker every time. */
export function tooManyAttempts(attempts: number, retryScheduleMs: readonly number[]): ExecutionError | null {
  if (attempts <= retryScheduleMs.length + 20) return null;
  return {
    code: 'internal',
    message: `The execution failed ${attempts} times because of an internal error. Send the request again, and report the execution's id to the operator.`,
    retryable: true,
  };
}
