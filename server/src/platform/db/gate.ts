import { DatabaseUnavailable } from './unavailable.ts';

/** `reads`: reads still work and return correct results, so they may pass. */
export type Closure = { reason: string; admits: 'nothing' | 'reads' };

export type Gate = {
  closure(): Closure | null;
  close(closure: Closure): void;
  open(): void;
  /** Waits up to a second for a closed gate to open, then throws. */
  pass(isRead: boolean): Promise<void>;
};

// A switchover takes a second or two. A client that waits longer should rather get an error and retry.
const passTimeoutMs = 1_000;

/** Stops statements centrally while the database is unavailable, instead of letting each one fail or time out. */
export function createGate(onChange: (closure: Closure | null) => void): Gate {
  let closure: Closure | null = null;
  let opened = Promise.resolve();
  let resolveOpened = () => {};

  function refuseIfClosed(): void {
    if (closure) throw new DatabaseUnavailable(closure.reason);
  }

  return {
    closure: () => closure,
    close(next) {
      if (!closure) {
        opened = new Promise((resolve) => {
          resolveOpened = resolve;
        });
      }
      const isNew = closure?.reason !== next.reason;
      closure = next;
      if (isNew) onChange(closure);
    },
    open() {
      if (!closure) return;
      closure = null;
      resolveOpened();
      onChange(null);
    },
    async pass(isRead) {
      if (!closure || (isRead && closure.admits === 'reads')) return;
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, passTimeoutMs);
      });
      await Promise.race([opened, timeout]);
      clearTimeout(timer);
      refuseIfClosed();
    },
  };
}
