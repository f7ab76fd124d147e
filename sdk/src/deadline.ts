import { startTimer } from './start-timer.ts';

export type Deadline = { signal: AbortSignal; endMs: number; isTimedOut(): boolean; end(): void };

/** Combines the caller's signal with the timeout of the call. */
export function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  let isTimedOut = false;
  const timer = startTimer(() => {
    isTimedOut = true;
    controller.abort();
  }, timeoutMs);
  const onAbort = () => controller.abort(caller?.reason);
  if (caller?.aborted) onAbort();
  caller?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    endMs: performance.now() + timeoutMs,
    isTimedOut: () => isTimedOut,
    end() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', onAbort);
    },
  };
}
