import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../platform/db/database.ts';
import { insertLines, type RequestLine } from './sql.ts';

export type { RequestLine } from './sql.ts';

/** Which requests are logged. Each level includes the ones before it. */
export type RequestLogLevel = 'off' | 'errors' | 'writes' | 'all';

type Options = {
  db: Database;
  level: RequestLogLevel;
  /** Lines that are lost: too many waited, or their statement failed. */
  onDropped(count: number): void;
  onError(error: unknown): void;
};

// A statement of 500 lines every 250 ms is 2,000 lines a second. A line takes about 15 µs of CPU, most of it in PostgreSQL, so the log
// takes 30 ms a second at most: 1.5 % of two cores. Unlimited, it would take 6 % of them at 8,000 orders a second.
const batchSize = 500;
const pauseMs = 250;
// A line has about 300 bytes, one with a long error 1,500.
const maxLines = 5_000;
const maxBytes = 4 * 1024 * 1024;
const bytesBesidesText = 250;
// Three statements, so that a line is readable within a second at any load. The rest is for requests that failed.
const maxSucceeded = 1_500;

export type RequestLog = ReturnType<typeof createRequestLog>;

/** Collects lines and writes many with one statement. Drops lines rather than slow a request. */
export function createRequestLog({ db, level, onDropped, onError }: Options) {
  let waiting: RequestLine[] = [];
  let waitingBytes = 0;
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> | null = null;

  function hasRoom(status: number): boolean {
    const isRoomy = waiting.length < (status < 400 ? maxSucceeded : maxLines) && waitingBytes < maxBytes;
    if (!isRoomy) onDropped(1);
    return isRoomy;
  }

  function add(line: RequestLine): void {
    waiting.push(line);
    waitingBytes += sizeOf(line);
    schedule();
  }

  function schedule(): void {
    if (!timer && !writing && waiting.length > 0) timer = setTimeout(start, pauseMs).unref();
  }

  function start(): void {
    timer = null;
    // While requests wait for a connection, this statement waits too.
    if (db.pool.waitingCount === 0) writing = write().finally(endWrite);
    else schedule();
  }

  function endWrite(): void {
    writing = null;
    schedule();
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
    /** Whether there is room for a request with this status; if not, counts it as dropped. Call it before building the line. */
    hasRoom,
    /** Keeps the line for a later statement. Never throws and never waits. */
    add,
    /** Writes what waits, for at most `timeoutMs`. */
    async stop(timeoutMs: number): Promise<void> {
      const late = new AbortController();
      await Promise.race([drain(), sleep(timeoutMs, undefined, { signal: late.signal }).catch(() => {})]);
      late.abort();
      if (timer) clearTimeout(timer);
      if (waiting.length > 0) onDropped(waiting.length);
    },
  };
}

function sizeOf({ path, error }: RequestLine): number {
  return bytesBesidesText + path.length + (error?.message.length ?? 0);
}
