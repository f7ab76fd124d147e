type Options = { perAccount: number; maxWaiting: number; maxWaitMs: number };

type Account = { running: number; waiting: Set<() => void> };

/**
 * Limits each account's concurrent look-ups. Suspect names, whose last look-up timed out, get at most half of the slots and
 * never wait for one, so they leave room for the account's other names.
 */
export function createLookupSlots({ perAccount, maxWaiting, maxWaitMs }: Options) {
  const accounts = new Map<string, Account>();

  function accountOf(accountUuid: string): Account {
    const known = accounts.get(accountUuid);
    if (known) return known;
    const account = { running: 0, waiting: new Set<() => void>() };
    accounts.set(accountUuid, account);
    return account;
  }

  function start(accountUuid: string, account: Account): () => void {
    account.running += 1;
    return () => {
      account.running -= 1;
      const [next] = account.waiting;
      if (next) next();
      else if (account.running === 0) accounts.delete(accountUuid);
    };
  }

  return {
    /** Resolves with a function that releases the slot, or with null if the account gets none in time. */
    async acquire(accountUuid: string, isSuspect: boolean): Promise<(() => void) | null> {
      const account = accountOf(accountUuid);
      const limit = isSuspect ? Math.ceil(perAccount / 2) : perAccount;
      if (account.running < limit) return start(accountUuid, account);
      if (isSuspect || account.waiting.size >= maxWaiting) return null;
      return new Promise((resolve) => {
        const finish = (release: (() => void) | null) => {
          clearTimeout(timer);
          account.waiting.delete(onFree);
          resolve(release);
        };
        const onFree = () => finish(start(accountUuid, account));
        const timer = setTimeout(finish, maxWaitMs, null);
        account.waiting.add(onFree);
      });
    },
  };
}
