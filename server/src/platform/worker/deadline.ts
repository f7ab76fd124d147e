type Deadline = {
  ms: number;
  stopping: AbortSignal;
  /** Called when the signal fires. Listeners of each call's own signal took 7 µs of an order in Node. */
  onEnd(): void;
};

/**
 * Calls `run` with a signal that fires after `ms` or when `stopping` does, and removes both listeners at the end.
 * `AbortSignal.any` would leak: on Node 20 a long-lived signal keeps every signal ever derived from it.
 */
export async function withDeadline<T>(
  { ms, stopping, onEnd }: Deadline,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => {
    controller.abort();
    onEnd();
  };
  const timer = setTimeout(abort, ms);
  const removeListener = onAbort(stopping, abort);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
    removeListener();
  }
}

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls `listener` when the signal fires, or at once if it has. Returns a function that removes the listener. An AbortSignal
 * scans its whole list to add or remove one, so here a set behind a single listener is used.
 */
export function onAbort(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) {
    listener();
    return () => {};
  }
  const registered = listeners.get(signal) ?? listenTo(signal);
  registered.add(listener);
  return () => registered.delete(listener);
}

function listenTo(signal: AbortSignal): Set<() => void> {
  const registered = new Set<() => void>();
  listeners.set(signal, registered);
  signal.addEventListener('abort', () => {
    for (const listener of registered) listener();
  });
  return registered;
}
