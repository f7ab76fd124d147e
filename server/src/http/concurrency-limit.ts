import { AppError } from '../app-error.ts';

export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs at most `running` at once and queues up to `waiting` more; answers 503 when the queue is full. */
export function createConcurrencyLimit(limits: { running: number; waiting: number }): ConcurrencyLimit {
  let running = 0;
  const waiting: (() => void)[] = [];

  return async (work) => {
    if (running >= limits.running) await waitForSlot();
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next)
        next(); // takes over this slot
      else running -= 1;
    }
  };

  function waitForSlot(): Promise<void> {
    if (waiting.length >= limits.waiting) {
      throw new AppError('unavailable', 'Too many of these requests are running; retry shortly.', {
        headers: { 'Retry-After': '1' },
      });
    }
    return new Promise((resolve) => waiting.push(resolve));
  }
}
