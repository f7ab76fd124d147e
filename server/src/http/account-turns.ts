import { AppError } from '../platform/app-error.ts';

export type AccountTurns = <T>(account: string, work: () => Promise<T>) => Promise<T>;

type Limits = {
  /** How much runs at once. One account runs at most half of it: as much as it leaves free for the others. */
  running: number;
  /** How much of one account waits, and for how long (unset: any time). Beyond either, the account gets 429. */
  waiting: number;
  waitMs?: number;
  /** Keeps the slot as long again as the work took, so that an account without a pause uses half of a core of the database. */
  rests?: true;
};

// A statement that waited for a lock, or for a slow machine, took no core.
const longestRestMs = 250;

type Waiting = { start(): void };

/**
 * Divides slots between accounts. Each has its own queue, and the queues take turns: an account with a thousand requests does not
 * delay the only one of another. An account may hold as many slots as remain free, so the next account finds one.
 */
export function createAccountTurns(limits: Limits): AccountTurns {
  const heldBy = new Map<string, number>();
  const queues = new Map<string, Set<Waiting>>();
  let free = limits.running;

  function mayStart(account: string): boolean {
    return free > (heldBy.get(account) ?? 0);
  }

  function start(account: string): void {
    free -= 1;
    heldBy.set(account, (heldBy.get(account) ?? 0) + 1);
  }

  function end(account: string): void {
    free += 1;
    const left = (heldBy.get(account) ?? 0) - 1;
    if (left > 0) heldBy.set(account, left);
    else heldBy.delete(account);
    while (startNext());
  }

  /** Starts the first of the next account that may. Only accounts that hold a slot are skipped, so they are few. */
  function startNext(): boolean {
    for (const [account, queue] of queues) {
      if (!mayStart(account)) continue;
      const next = queue.values().next().value as Waiting;
      remove(account, queue, next);
      // Move the account to the end of the round.
      if (queues.delete(account)) queues.set(account, queue);
      start(account);
      next.start();
      return true;
    }
    return false;
  }

  function remove(account: string, queue: Set<Waiting>, one: Waiting): void {
    queue.delete(one);
    if (queue.size === 0) queues.delete(account);
  }

  function waitForTurn(account: string): Promise<void> {
    const queue = queues.get(account) ?? new Set();
    if (queue.size >= limits.waiting) throw tooMany();
    return new Promise((resolve, reject) => {
      const one = {
        start() {
          clearTimeout(timer);
          resolve();
        },
      };
      const giveUp = () => {
        remove(account, queue, one);
        reject(tooMany());
      };
      const timer = limits.waitMs === undefined ? undefined : setTimeout(giveUp, limits.waitMs);
      queues.set(account, queue.add(one));
    });
  }

  return async (account, work) => {
    if (mayStart(account)) start(account);
    else await waitForTurn(account);
    const startedMs = performance.now();
    let restMs = 0;
    try {
      const result = await work();
      // Not after a failure: if the database hangs, what waits must get its 503 before its own time is over.
      if (limits.rests) restMs = Math.min(performance.now() - startedMs, longestRestMs);
      return result;
    } finally {
      if (restMs > 0) setTimeout(end, restMs, account);
      else end(account);
    }
  };
}

function tooMany(): AppError {
  return new AppError(
    'rate_limited',
    'Too many requests of this account wait for their turn. Send fewer at once, and retry after a second.',
    { headers: { 'Retry-After': '1' } },
  );
}
