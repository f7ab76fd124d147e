import type { Database } from './database.ts';
import { DatabaseUnavailable, wasRefused } from './unavailable.ts';

/** Puts an item into the next statement, and resolves with what became of it once that has committed. */
export type GroupCommit<Item, Result> = (item: Item) => Promise<Result>;

type Options<Item, Result> = {
  /** One statement for all of them; a result for each, in their order. */
  write(items: Item[]): Promise<Result[]>;
  /** Two unless it is said. 1 where batches would wait for each other. */
  mostInFlight?: number;
};

// One commit costs what 256 do, almost; beyond that a statement holds its locks for too long (10 ms).
const mostAtOnce = 256;

// So many that wait are worth a second statement beside the first: else this process has nothing to do while the disk is slow, and
// 64 clients got 4,200 to 5,000 orders a second accepted; with 16, 4,900 to 5,100. Two statements always, however few wait, made
// batches that are too small (3,750 instead of 4,150).
const worthAnother = 16;

// A statement takes 5 ms; one that takes this long is stuck, behind a lock or on a connection that died, and is passed by.
const patienceMs = 100;

/**
 * Gathers what comes while a statement runs and writes it with the next: one commit serves many. Nobody waits for
 * company: an item that comes alone is written at once.
 *
 * Where the database refuses a statement, one item may be at fault: then each is written by itself. Where it is not known
 * whether the statement was committed, nothing is written again.
 */
export function createGroupCommit<Item, Result>(options: Options<Item, Result>): GroupCommit<Item, Result> {
  const { write, mostInFlight = 2 } = options;
  type Waiting = { item: Item; resolve(result: Result): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let isScheduled = false;
  let isStuck = false;

  function schedule(): void {
    if (isScheduled || !mayStart()) return;
    isScheduled = true;
    setImmediate(start); // what comes in the same turn of the loop goes together
  }

  function mayStart(): boolean {
    return inFlight < (isStuck || waiting.length >= worthAnother ? mostInFlight : 1);
  }

  function start(): void {
    isScheduled = false;
    if (waiting.length === 0 || !mayStart()) return;
    const batch = waiting.slice(0, mostAtOnce);
    waiting = waiting.slice(mostAtOnce);
    inFlight += 1;
    isStuck = false;
    const patience = setTimeout(passBy, patienceMs);
    const next = () => {
      clearTimeout(patience);
      inFlight -= 1;
      start();
    };
    writeBatch(batch).then(next, next);
    start(); // there may be enough for another
  }

  function passBy(): void {
    isStuck = true;
    start();
  }

  /** Never rejects: every item is told what became of it. */
  async function writeBatch(batch: Waiting[]): Promise<void> {
    try {
      const results = await write(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('a group commit lost count of its items');
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      // Those behind would only meet the same, one batch after the other.
      if (error instanceof DatabaseUnavailable) for (const { reject } of waiting.splice(0)) reject(error);
      if (batch.length === 1 || !wasRefused(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await writeBatch([one]);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      schedule();
    });
}

/** What gathers for a database is one for the whole process, whoever asks. */
export function perDatabase<Made extends object>(make: (db: Database) => Made): (db: Database) => Made {
  const made = new WeakMap<Database, Made>();
  return (db) => {
    const known = made.get(db);
    if (known) return known;
    const own = make(db);
    made.set(db, own);
    return own;
  };
}
