import { ExecutionFailedError, TimeoutError } from './errors.ts';
import type { Execution } from './generated.ts';
import { pause } from './pause.ts';
import type { CallOptions } from './transport.ts';

export type WaitOptions = Pick<CallOptions, 'timeoutMs' | 'maxRetries' | 'signal'> & {
  /** How long to wait; 60 s when left out. Nothing is lost when it is over: wait again with the same id. */
  waitMs?: number | undefined;
  /** Called each time the execution was looked at. */
  onProgress?: ((execution: Execution) => void) | undefined;
};

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Looks at an execution until it has succeeded, a little less often each time. */
export async function waitForExecution(
  id: string,
  look: (id: string, options: CallOptions) => PromiseLike<Execution>,
  { waitMs = 60_000, timeoutMs = waitMs, maxRetries, signal, onProgress }: WaitOptions,
): Promise<Execution> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    signal?.throwIfAborted();
    // A look has the time that is left, and at least a second: the last one is worth having.
    const lookMs = Math.max(1_000, Math.min(timeoutMs, endMs - performance.now()));
    const execution = await look(id, { timeoutMs: lookMs, maxRetries, signal });
    onProgress?.(execution);
    if (execution.status === 'succeeded') return execution;
    if (execution.status === 'failed') throw new ExecutionFailedError(execution);
    const leftMs = endMs - performance.now();
    if (leftMs <= 0) {
      throw new TimeoutError(
        `${id} is still ${execution.status} after ${waitMs} ms; it goes on by itself, look again later.`,
      );
    }
    await pause(Math.min(pauseMs, leftMs), signal);
  }
}
