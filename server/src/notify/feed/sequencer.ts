import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/db/database.ts';
import { createWaker, restMs } from '../../platform/worker/wake.ts';
import { pauseAfter } from './pause-after.ts';
import { assignPositions, type Pass } from './sql/positions.ts';

type Options = {
  db: Database;
  clock: Clock;
  /** Called after each pass that gave positions. */
  onPositions(pass: Pick<Pass, 'accountUuids' | 'hasWaiting' | 'hasListeners'>): void | Promise<void>;
  /** Whether somebody follows the feed in this process. */
  hasReaders?(): boolean;
  /** The longest time that an event stays unnoticed without a signal, for example when the process that wrote it died. */
  pollMs?: number;
  /** While this is so, signals tell of all events, and polls are rare. */
  hearsAll?(): boolean;
  onError(error: unknown): void;
};

export type Sequencer = { wake(): void; stop(): Promise<void> };

const maxRowsPerPass = 1_000;
// Rows below the floor are skipped. After a failover the numbers of rows may start lower again, so the floor is reset regularly:
// a pass from the first row costs 7 ms if a dump keeps 30,000 dead rows, and 0.1 to 0.3 ms from the floor.
const floorLifetimeMs = 2_000;
const retryMs = 500;

/**
 * Gives events their positions in the feed. Every worker process runs one; whichever passes first takes what there is, so there is
 * no leader that others would have to replace.
 */
export function startSequencer({
  db,
  clock,
  onPositions,
  hasReaders = () => false,
  pollMs = 1_000,
  hearsAll = () => false,
  onError,
}: Options): Sequencer {
  const stopping = new AbortController();
  const floor = createFloor();
  const { wake, rest } = createWaker();

  /** How long to wait before the next pass; null until there is work. */
  async function pass(): Promise<number | null> {
    const at = new Date(clock.nowMs());
    const done = await assignPositions(db, { afterId: floor.current(), limit: maxRowsPerPass, at });
    const isFull = done.rowCount === maxRowsPerPass;
    if (!isFull) floor.learn(done);
    if (done.eventCount > 0) await onPositions(done);
    else if (!isFull) return null;
    return isFull ? 0 : pauseAfter(done.eventCount, done.hasWaiting || hasReaders());
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await rest(restMs(pollMs, hearsAll()));
      try {
        const waitMs = await pass();
        if (waitMs === null) continue;
        if (waitMs > 0) await sleep(waitMs, undefined, { signal: stopping.signal }).catch(() => {});
        if (waitMs === 0) wake(); // a full pass left something
      } catch (error) {
        floor.reset(); // the next pass may be on another server
        onError(error);
        await sleep(retryMs, undefined, { signal: stopping.signal }).catch(() => {});
        wake();
      }
    }
  }

  wake();
  const running = run();
  return {
    wake,
    async stop() {
      stopping.abort();
      wake();
      await running;
    },
  };
}

/**
 * The highest row number below which every row is taken and none can appear: all transactions that could have drawn such a number have
 * ended. Without it, passes walk all rows deleted since the oldest snapshot was taken, for example by a dump.
 */
function createFloor() {
  let floor = 0;
  let candidate: { lastId: number; xid: bigint } | null = null;
  let startedMs = performance.now();

  function reset(): void {
    floor = 0;
    candidate = null;
    startedMs = performance.now();
  }

  return {
    current(): number {
      if (performance.now() - startedMs > floorLifetimeMs) reset();
      return floor;
    },
    reset,
    /** `done` must have taken all rows above the floor. */
    learn({ lastId, oldestOpenXid, xid }: Pass): void {
      if (candidate && BigInt(oldestOpenXid) >= candidate.xid) {
        floor = candidate.lastId;
        candidate = null;
      }
      if (lastId !== null && xid !== null) candidate ??= { lastId, xid: BigInt(xid) };
    },
  };
}
