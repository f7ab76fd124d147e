const receipts = new Map<string, { count: number; atMs: number }>();
let total = 0;
let waiter = { count: Number.POSITIVE_INFINITY, resolve: () => {} };

/** Records the time at which an event arrived. */
export function record(id: string): void {
  const known = receipts.get(id);
  if (known) known.count += 1;
  else receipts.set(id, { count: 1, atMs: performance.timeOrigin + performance.now() });
  total += 1;
  if (total === waiter.count) waiter.resolve();
}

/** Tasks of a child process that receives events. */
export const receiptTasks = {
  reset() {
    receipts.clear();
    total = 0;
  },
  /** Resolves when `count` events have arrived since the last `reset`, or after the timeout. */
  async wait({ count, timeoutMs }: { count: number; timeoutMs: number }) {
    if (total < count) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        waiter = {
          count,
          resolve() {
            clearTimeout(timer);
            resolve();
          },
        };
      });
    }
    return { total, distinct: receipts.size };
  },
  receipts: () => [...receipts].map(([id, { atMs }]) => ({ id, atMs })),
};
