import { ExecutionFailedError, SimplaneError, TimeoutError } from './errors.ts';
import type { Execution } from './generated.ts';
import { pause } from './pause.ts';
import type { CallOptions } from './transport.ts';

export type WaitOptions = Pick<CallOptions, 'timeoutMs' | 'maxRetries' | 'signal'> & {
  /** How long to wait. Defaults to 60 s. After a timeout, you can wait again with the same id. */
  waitMs?: number | undefined;
  /** Called after each poll. */
  onProgress?: ((execution: Execution) => void) | undefined;
};

const firstPauseMs = 100;
const maxPauseMs = 2_000;

/** Polls an execution with growing pauses until it succeeds. Its errors carry the execution as last seen. */
export async function waitForExecution(
  id: string,
  poll: (id: string, options: CallOptions) => PromiseLike<Execution>,
  { waitMs = 60_000, timeoutMs = waitMs, maxRetries, signal, onProgress }: WaitOptions,
  known?: Execution,
): Promise<Execution> {
  const endMs = performance.now() + waitMs;
  let execution = known;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 1.5)) {
    signal?.throwIfAborted();
    // A poll gets the remaining time, but at least a second, so that the last poll can succeed.
    const pollMs = Math.max(1_000, Math.min(timeoutMs, endMs - performance.now()));
    execution = await carrying(execution, poll(id, { timeoutMs: pollMs, maxRetries, signal }));
    onProgress?.(execution);
    if (execution.status === 'succeeded') return execution;
    if (execution.status === 'failed') throw new ExecutionFailedError(execution);
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) {
      const error = new TimeoutError(
        `${id} is still ${execution.status} after ${waitMs} ms. It continues in the background; wait again later.`,
      );
      throw Object.assign(error, { execution });
    }
    await pause(Math.min(pauseMs, leftMs), signal);
  }
}

/** Adds the execution to the errors of a call, so that the caller can continue with it. */
export async function carrying<Result>(
  execution: Execution | undefined,
  call: PromiseLike<Result>,
): Promise<Result> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof SimplaneError && execution) error.execution = execution;
    throw error;
  }
}
