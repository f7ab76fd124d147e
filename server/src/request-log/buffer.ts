import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../db/database.ts';
import type { RequestLine, RequestLogLevel } from './request-line.ts';
import { insertLines } from './sql/insert-lines.ts';

export type RequestLog = {
  level: RequestLogLevel;
  /** Keeps the line for the next statement, or drops it if too many wait. Never throws and never waits. */
  add(line: RequestLine): void;
  /** Writes what waits, for at most `timeoutMs`. */
  stop(timeoutMs: number): Promise<void>;
};

type Options = {
  db: Database;
  level: RequestLogLevel;
  /** Lines that are lost: too many waited, or their statement failed. */
  onDropped(count: number): void;
  onError(error: unknown): void;
};

// One statement at a time, so 500 lines in 10 ms leave the connections and the disk to the requests.
const batchSize = 500;
// A line can be read well within a second of its request.
const flushAfterMs = 250;
// Ten full statements. A line has about 300 bytes, one with a long error 1,500.
const maxLines = 5_000;
const maxBytes = 4 * 1024 * 1024;
const bytesBesidesText = 250;

/** Collects lines and writes many with one statement. Under pressure it drops lines; it never slows a request. */
export function createRequestLog({ db, level, onDropped, onError }: Options): RequestLog {
  let waiting: RequestLine[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;

  function add(line: RequestLine): void {
    if (waiting.length >= maxLines || waitingBytes >= maxBytes) {
      onDropped(1);
      return;
    }
    waiting.push(line);
    waitingBytes += sizeOf(line);
    if (waiting.length === batchSize) start();
    else schedule();
  }

  function schedule(): void {
    if (!timer && !writing && waiting.length > 0) timer = setTimeout(start, flushAfterMs).unref();
  }

  function start(): void {
    cancelTimer();
    if (writing) return;
    // While requests wait for a connection, this statement waits too.
    if (db.pool.waitingCount > 0) {
      schedule();
      return;
    }
    writing = write().finally(() => {
      writing = null;
      if (waiting.length >= batchSize) start();
      else schedule();
    });
  }

  function cancelTimer(): void {
    if (timer) clearTimeout(timer);
    timer = null;
  }

  /** A failed batch is not written again: it may have been committed, and the log may have gaps. */
  async function write(): Promise<void> {
    const batch = waiting.slice(0, batchSize);
    waiting = waiting.slice(batchSize);
    for (const line of batch) waitingBytes -= sizeOf(line);
    try {
      await insertLines(db, batch);
    } catch (error) {
      onDropped(batch.length);
      onError(error);
    }
  }

  async function drain(): Promise<void> {
    while (writing || waiting.length > 0) await (writing ?? write());
  }

  return {
    level,
    add,
    async stop(timeoutMs) {
      const late = new AbortController();
      await Promise.race([drain(), sleep(timeoutMs, undefined, { signal: late.signal }).catch(() => {})]);
      late.abort();
      cancelTimer();
      if (waiting.length > 0) onDropped(waiting.length);
    },
  };
}

function sizeOf({ path, error }: RequestLine): number {
  return bytesBesidesText + path.length + (error?.message.length ?? 0);
}
