import type { Clock } from '../platform/clock.ts';
import type { Queryable } from '../platform/db/database.ts';
import { beatAndReadWaiting, type Waiting } from './waiting.ts';

/** The pause between two beats. */
export const beatMs = 1_000;
/** Without a beat for so long, the others end a worker's leases. Three beats may be late or lost. */
export const deadAfterMs = 4_000;
// A little less: by then it must have stopped whatever only one worker may do. It counts from before the beat was sent.
const lostAfterMs = 3_700;

export type WorkerBeat = ReturnType<typeof createWorkerBeat>;

type Options = {
  db: Queryable;
  clock: Clock;
  /** Names the worker in its leases. */
  worker: string;
  /** Called when the beat has stopped for so long that others may soon end the leases. */
  onLost(): void;
  monotonicMs?: () => number;
};

/**
 * Shows that a worker lives, so that its leases last. The worker itself notices first when its beat stops: a process that was frozen,
 * or that lost PostgreSQL, must not go on beside its heir.
 */
export function createWorkerBeat(options: Options) {
  const { db, clock, worker, onLost, monotonicMs = () => performance.now() } = options;
  let beatAtMs = monotonicMs();
  let steadySinceMs = beatAtMs;
  let timer: NodeJS.Timeout | undefined;

  const isFresh = () => monotonicMs() - beatAtMs < lostAfterMs;

  function watch(): void {
    clearTimeout(timer);
    timer = setTimeout(onLost, lostAfterMs - (monotonicMs() - beatAtMs)).unref();
  }

  return {
    /** Whether the worker's leases surely last. */
    isFresh,

    /** Returns what may wait for a chore. */
    async beat(): Promise<Record<Waiting, boolean> | null> {
      const sentAtMs = monotonicMs();
      const waiting = await beatAndReadWaiting(db, { at: new Date(clock.nowMs()), worker, deadAfterMs });
      if (!isFresh()) {
        onLost();
        steadySinceMs = sentAtMs;
      }
      beatAtMs = sentAtMs;
      watch();
      // After an outage of the database everyone's beat is old. Only who has beaten all this time may judge the others.
      const mayJudge = sentAtMs - steadySinceMs > deadAfterMs;
      return waiting && { ...waiting, deadWorkers: waiting.deadWorkers && mayJudge };
    },

    stop(): void {
      clearTimeout(timer);
    },
  };
}
