import type { Database } from './database.ts';
import { DatabaseUnavailable, wasRefused } from './unavailable.ts';

/** Adds an item to the next statement and resolves with its result once that has committed. */
export type GroupCommit<Item, Result> = (item: Item) => Promise<Result>;

type Options<Item, Result> = {
  /** Runs one statement for all items. Returns one result per item, in input order. */
  write(items: Item[]): Promise<Result[]>;
  /** Default 2. Use 1 if batches would wait for each other's locks. */
  mostInFlight?: number;
  /** For results that nobody waits for: after a statement has started, the next one waits so long for more items. */
  collectMs?: number;
  /** An item that must not wait for others. */
  isUrgent?(item: Item): boolean;
};

// 256 items cost hardly more than one commit. With more, a statement holds its locks for too long (10 ms).
const maxBatch = 256;

// This many waiting items start a second statement, so that the process is not idle while the disk is slow. With 64 clients:
// 4,900 to 5,100 orders a second, compared with 4,200 to 5,000 without. Always running two made the batches too small
// (3,750 instead of 4,150).
const secondStatementFrom = 16;

// A statement takes 5 ms. After this long it is stuck on a lock or a dead connection, and another one may start.
const stuckAfterMs = 100;

/**
 * Collects items while a statement runs and writes them with the next one, so that one commit serves many. A single item is
 * written at once.
 *
 * If the database refuses a statement, a single item may be the cause, so each is written by itself. If it is unknown whether
 * the statement was committed, nothing is written again.
 */
export function createGroupCommit<Item, Result>(options: Options<Item, Result>): GroupCommit<Item, Result> {
  const { write, mostInFlight = 2, collectMs = 0, isUrgent = () => false } = options;
  type Waiting = { item: Item; resolve(result: Result): void; reject(error: unknown): void };
  let waiting: Waiting[] = [];
  let inFlight = 0;
  let isScheduled = false;
  let isStuck = false;
  let collectUntilMs = 0;
  let collecting: NodeJS.Timeout | null = null;

  function schedule(): void {
    if (isScheduled || waiting.length === 0 || !mayStart()) return;
    const isCollecting = collectMs > 0 && performance.now() < collectUntilMs && !isPressing();
    if (isCollecting) {
      collecting ??= setTimeout(start, collectUntilMs - performance.now());
      return;
    }
    isScheduled = true;
    setImmediate(start); // items added in the same event loop turn share a statement
  }

  function isPressing(): boolean {
    return waiting.length >= secondStatementFrom || waiting.some(({ item }) => isUrgent(item));
  }

  function mayStart(): boolean {
    return inFlight < (isStuck || waiting.length >= secondStatementFrom ? mostInFlight : 1);
  }

  function start(): void {
    isScheduled = false;
    if (collecting) clearTimeout(collecting);
    collecting = null;
    if (waiting.length === 0 || !mayStart()) return;
    collectUntilMs = performance.now() + collectMs;
    const batch = waiting.slice(0, maxBatch);
    waiting = waiting.slice(maxBatch);
    inFlight += 1;
    isStuck = false;
    const timer = setTimeout(onStuck, stuckAfterMs);
    const next = () => {
      clearTimeout(timer);
      inFlight -= 1;
      if (collectMs > 0) schedule();
      else start();
    };
    writeBatch(batch).then(next, next);
    start(); // there may be enough for another
  }

  function onStuck(): void {
    isStuck = true;
    start();
  }

  /** Never rejects; settles the promise of every item. */
  async function writeBatch(batch: Waiting[]): Promise<void> {
    try {
      const results = await write(batch.map(({ item }) => item));
      if (results.length !== batch.length) throw new Error('wrong number of group commit results');
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      // The waiting items would fail the same way, one batch after another.
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

/** Creates one instance per database and shares it across the process, and so between accounts. */
export function perDatabase<T extends object>(create: (db: Database) => T): (db: Database) => T {
  const instances = new WeakMap<Database, T>();
  return (given) => {
    const db = given.unlimited ?? given;
    const existing = instances.get(db);
    if (existing) return existing;
    const created = create(db);
    instances.set(db, created);
    return created;
  };
}
