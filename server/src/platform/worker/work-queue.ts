import { createWaker, restMs } from './wake.ts';

/** When the job is due again; undefined if it is finished. */
export type RunResult = { againInMs?: number } | undefined;

type Options<Job> = {
  /** Claims up to `count` due jobs for this process and commits. */
  claim(count: number): Promise<Job[]>;
  /** A claim takes whatever is due, as far as there is room: after one that got less, nothing waits. */
  takesAllDue?: true;
  /** Runs the job and settles it. `stopping` fires when the shutdown timeout is over, or on `interrupt`. */
  run(job: Job, stopping: AbortSignal): Promise<RunResult>;
  concurrency: number;
  /** Fallback for missed signals and timers: the longest time that due work stays unnoticed. */
  pollMs: number;
  /** While this is so, signals tell of all work, and polls are rare. By default they never are. */
  hearsAll?(): boolean;
  onError(error: unknown): void;
};

/** Room for a job that this process holds without having claimed it. End with one of its functions. */
export type Place<Job> = { run(job: Job): void; release(): void };

export type WorkQueue<Job = unknown> = {
  wake(): void;
  /** Null if there is no room, or if others may wait for it. */
  reserve(): Place<Job> | null;
  /** Ends what runs now as a shutdown does, and goes on. */
  interrupt(): void;
  stop(timeoutMs: number): Promise<void>;
};

// Jobs due later than this get no timer, because a timer per job would be a second queue in memory.
const maxTimerMs = 10_000;

/**
 * The claim-run-settle loop. The queue is a table; this runs a bounded number of its rows at once. A job that throws is left
 * as it is: its lease expires, and then any process may claim it again.
 */
export function startWorkQueue<Job>(options: Options<Job>): WorkQueue<Job> {
  const { claim, run, takesAllDue = false, concurrency, pollMs, hearsAll = () => false, onError } = options;
  // Half of the slots per claim, so that some jobs are claimed while others run. With full claims this process and the database
  // wait for each other, and a worker did 2,750 orders a second instead of 3,450.
  const maxPerClaim = Math.ceil(concurrency / 2);
  const running = new Set<Promise<void>>();
  let stopping = new AbortController();
  const { wake, rest } = createWaker();
  let reserved = 0;
  let mayHaveMore = true;
  let stopped = false;
  // Until then a job may become due that only a poll notices.
  let awaitsPollUntilMs = 0;

  /** There is room for one more. */
  function refill(): void {
    if (mayHaveMore || !takesAllDue) wake();
  }

  async function start(job: Job): Promise<void> {
    try {
      const result = await run(job, stopping.signal);
      const againInMs = result?.againInMs ?? Number.POSITIVE_INFINITY;
      if (againInMs <= maxTimerMs) setTimeout(wake, againInMs).unref();
      else if (result?.againInMs !== undefined)
        awaitsPollUntilMs = Math.max(awaitsPollUntilMs, performance.now() + againInMs + pollMs);
    } catch (error) {
      onError(error);
    }
  }

  function begin(job: Job): void {
    const done = start(job).finally(() => {
      running.delete(done);
      refill();
    });
    running.add(done);
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      const count = Math.min(concurrency - running.size - reserved, maxPerClaim);
      if (count > 0) {
        const jobs = await claim(count).catch((error: unknown) => {
          onError(error);
          return null;
        });
        for (const job of jobs ?? []) begin(job);
        const isFull = jobs?.length === count;
        mayHaveMore = isFull || jobs === null;
        if (isFull) wake();
      } else mayHaveMore = true;
      await rest(restMs(pollMs, hearsAll() && performance.now() >= awaitsPollUntilMs));
    }
  }

  const looping = loop();
  return {
    wake,
    reserve() {
      const isForOthers = takesAllDue && mayHaveMore;
      if (stopped || isForOthers || running.size + reserved >= concurrency) return null;
      reserved += 1;
      const release = () => {
        reserved -= 1;
      };
      return {
        run(job) {
          release();
          begin(job);
        },
        release() {
          release();
          refill();
        },
      };
    },
    interrupt() {
      stopping.abort();
      stopping = new AbortController();
    },
    async stop(timeoutMs) {
      stopped = true;
      wake();
      await looping;
      const drainTimeout = setTimeout(() => stopping.abort(), timeoutMs);
      await Promise.all(running);
      clearTimeout(drainTimeout);
    },
  };
}
