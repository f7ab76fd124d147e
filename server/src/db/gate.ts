import { DatabaseUnavailable } from './unavailable.ts';

/** `reads`: those still work and are right, so they may pass. */
export type Closure = { reason: string; admits: 'nothing' | 'reads' };

export type Gate = {
  closure(): Closure | null;
  close(closure: Closure): void;
  open(): void;
  /** Waits a moment for a closed gate to open, then throws. */
  pass(isRead: boolean): Promise<void>;
};

// A switchover is over in a second or two; who waits longer is better told to come back.
const patienceMs = 1_000;

/** Keeps statements away from a database that cannot take them, instead of letting each find that out by itself. */
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
        timer = setTimeout(resolve, patienceMs);
      });
      await Promise.race([opened, timeout]);
      clearTimeout(timer);
      refuseIfClosed();
    },
  };
}
