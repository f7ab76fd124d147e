import { ApiError, ConnectionError, TimeoutError } from './errors.ts';
import { pause } from './pause.ts';
import { delayBefore, isWorthRetrying, retryAfterMs } from './retry.ts';

// Timers fire at once above 2^31 ms.
const maxRetryAfterMs = 3_600_000;

/** Repeats a call until it succeeds, is aborted, or fails in a way that does not heal. */
export async function keepTrying<Result>(
  signal: AbortSignal,
  call: () => PromiseLike<Result>,
): Promise<Result> {
  for (let failures = 1; ; failures++) {
    try {
      return await call();
    } catch (error) {
      if (!signal.aborted && !canHeal(error)) throw error;
      if (await pause(healingDelay(error, failures), signal)) throw signal.reason;
    }
  }
}

/** Whether the same call can succeed later: the server is down or overloaded, or the network is. */
export function canHeal(error: unknown): boolean {
  if (error instanceof ApiError) return isWorthRetrying({ ...error, retryAfter: null });
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

/** Backs off even if the server asks for less, so that many readers do not come back at once. */
export function healingDelay(error: unknown, failures: number): number {
  const header = error instanceof ApiError ? error.headers.get('retry-after') : null;
  const requestedMs = Math.min(retryAfterMs(header) ?? 0, maxRetryAfterMs);
  return Math.max(requestedMs, delayBefore(failures, null, Math.random()));
}
