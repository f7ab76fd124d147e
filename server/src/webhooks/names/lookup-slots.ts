type Options = { perAccount: number; mostWaiting: number; longestWaitMs: number };

type Account = { running: number; waiting: Set<() => void> };

export type LookupSlots = {
  /** Resolves with what gives the slot back, or with null when the account has none to spare in time. */
  take(accountUuid: string, isSuspect: boolean): Promise<(() => void) | null>;
};

/**
 * Bounds the look-ups that one account has under way. Names that hung before get only half of its slots and do not wait for
 * one, so an account's hanging names leave room for its others.
 */
export function createLookupSlots({ perAccount, mostWaiting, longestWaitMs }: Options): LookupSlots {
  const accounts = new Map<string, Account>();

  function accountOf(accountUuid: string): Account {
    const known = accounts.get(accountUuid);
    if (known) return known;
    const account = { running: 0, waiting: new Set<() => void>() };
    accounts.set(accountUuid, account);
    return account;
  }

  function occupy(accountUuid: string, account: Account): () => void {
    account.running += 1;
    return () => {
      account.running -= 1;
      const [next] = account.waiting;
      if (next) next();
      else if (account.running === 0) accounts.delete(accountUuid);
    };
  }

  return {
    async take(accountUuid, isSuspect) {
      const account = accountOf(accountUuid);
      const most = isSuspect ? Math.ceil(perAccount / 2) : perAccount;
      if (account.running < most) return occupy(accountUuid, account);
      if (isSuspect || account.waiting.size >= mostWaiting) return null;
      return new Promise((resolve) => {
        const leave = (slot: (() => void) | null) => {
          clearTimeout(timer);
          account.waiting.delete(start);
          resolve(slot);
        };
        const start = () => leave(occupy(accountUuid, account));
        const timer = setTimeout(leave, longestWaitMs, null);
        account.waiting.add(start);
      });
    },
  };
}
