import type { Database } from './database.ts';
import { wasRefused } from './unavailable.ts';

/** Puts an item into the next statement, and resolves with what became of it once that has committed. */
export type GroupCommit<Item, Result> = (item: Item) => Promise<Result>;

type Options<Item, Result> = {
  /** One statement for all of them; a result for each, in their order. */
  write(items: Item[]): Promise<Result[]>;
  mostInFlight?: number;
};

// One commit costs what 256 do, almost; beyond that a statement holds its locks for too long (10 ms).
const mostAtOnce = 256;

/**
 * Gathers what comes while a statement runs and writes it with the next: one commit serves many. Nobody waits for
 * company: an item that comes alone is written at once.
 *
 * Where the database refuses a statement, one item may be at fault: then each is written by itself. Where it is not known
 * whether the statement was committed, nothing is written again.
 */
export function createGroupCommit<Item, Result>(options: Options<Item, Result>): GroupCommit<Item, Result> {
  // Two, so that one batch is gathered and sent while the other waits for the disk.
  const { write, mostInFlight = 2 } = options;
  type Waiting = { item: Item; resolve(result: Result): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let isScheduled = false;

  function schedule(): void {
    if (isScheduled || inFlight >= mostInFlight) return;
    isScheduled = true;
    setImmediate(start); // what comes in the same turn of the loop goes together
  }

  function start(): void {
    isScheduled = false;
    while (waiting.length > 0 && inFlight < mostInFlight) {
      const batch = waiting.slice(0, mostAtOnce);
      waiting = waiting.slice(mostAtOnce);
      inFlight += 1;
      const next = () => {
        inFlight -= 1;
        start();
      };
      writeBatch(batch).then(next, next);
    }
  }

  /** Never rejects: every item is told what became of it. */
  async function writeBatch(batch: Waiting[]): Promise<void> {
    try {
      const results = await write(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('a group commit lost count of its items');
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
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
    const known = made.get(db) ?? make(db);
    made.set(db, known);
    return known;
  };
}
