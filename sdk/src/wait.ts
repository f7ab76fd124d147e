import { ExecutionFailedError, TimeoutError } from './errors.ts';
import type { Execution } from './generated.ts';
import { pause } from './pause.ts';

export type WaitOptions = {
  /** How long to wait; 60 s when left out. Nothing is lost when it is over: wait again with the same id. */
  waitMs?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Called each time the execution was looked at. */
  onProgress?: ((execution: Execution) => void) | undefined;
};

const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** Looks at an execution until it has succeeded, a little less often each time. */
export async function waitForExecution(
  id: string,
  look: (id: string) => PromiseLike<Execution>,
  { waitMs = 60_000, signal, onProgress }: WaitOptions,
): Promise<Execution> {
  const endMs = performance.now() + waitMs;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 1.5)) {
    signal?.throwIfAborted();
    const execution = await look(id);
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
