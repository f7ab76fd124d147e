/**
 * Runs something with a signal that fires after `ms` or when `stopping` does, and lets go of both when it is over.
 * `AbortSignal.any` would not: on Node 20 a long-lived signal keeps every signal that was ever derived from it.
 */
export async function withDeadline<T>(
  ms: number,
  stopping: AbortSignal,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, ms);
  stopping.addEventListener('abort', abort, { once: true });
  if (stopping.aborted) abort();
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    stopping.removeEventListener('abort', abort);
  }
}
