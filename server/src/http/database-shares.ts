import type { KnownKey } from '../accounts/key-directory.ts';
import type { Database } from '../platform/db/database.ts';
import { type AccountTurns, createAccountTurns } from './account-turns.ts';

export type DatabaseShares = {
  /** The database for reads of this caller. */
  readsOf(caller: KnownKey): Database;
  /** The database for its writes. Orders that share a commit with those of other accounts take none of it. */
  writesOf(caller: KnownKey): Database;
  /** A list that no index may serve keeps a core of PostgreSQL busy for up to 2 s, so each account has one at a time. */
  filterTurns: AccountTurns;
};

// As long as a statement may take: if the database hangs, those that run fail first, and what waits gets their 503, not a 429. An
// account with a thousand requests at once is served within it, unless they are slow.
const queue = { waiting: 1_000, waitMs: 15_000 };

/**
 * Reads and writes have half of the connections each, so no write waits for reads. Of each half one account takes half: a quarter of
 * all. An operator's key counts as an account. Background work and look-ups of keys do not pass here.
 */
export function createDatabaseShares(db: Database): DatabaseShares {
  const running = Math.max(1, Math.floor((db.pool.options.max ?? 1) / 2));
  return {
    readsOf: shareOf(db, createAccountTurns({ running, ...queue })),
    writesOf: shareOf(db, createAccountTurns({ running, ...queue })),
    filterTurns: createAccountTurns({ running: 2, rests: true, ...queue }),
  };
}

function shareOf(db: Database, turns: AccountTurns): (caller: KnownKey) => Database {
  // By caller, so that it is made once for a key that is in use.
  const shares = new WeakMap<KnownKey, Database>();
  return (caller) => {
    const known = shares.get(caller);
    if (known) return known;
    const share = limit(db, turns, caller.account?.uuid ?? caller.apiKey.uuid);
    shares.set(caller, share);
    return share;
  };
}

function limit(db: Database, turns: AccountTurns, account: string): Database {
  return {
    ...db,
    query: (statement, values) => turns(account, () => db.query(statement, values)),
    queryWithin: (timeoutMs, statement, values) =>
      turns(account, () => db.queryWithin(timeoutMs, statement, values)),
    transaction: (work) => turns(account, () => db.transaction(work)),
    unlimited: db,
  };
}
