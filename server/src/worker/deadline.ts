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
  const forget = onAbort(stopping, abort);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    forget();
  }
}

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` once when the signal fires, at once when it has; the result takes it off again. A signal that everything
 * in work listens to searches its list at every coming and going: here that is a set, behind one listener.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const its = listeners.get(signal) ?? listenTo(signal);
  its.add(listener);
  return () => its.delete(listener);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const its = new Set<() => void>();
  listeners.set(signal, its);
  signal.addEventListener('abort', () => {
    for (const listener of its) listener();
  });
  return its;
}
