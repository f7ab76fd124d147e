import { createWaker } from './wake.ts';

/** When the job is due again; undefined if it is finished. */
export type RunResult = { againInMs?: number } | undefined;

type Options<Job> = {
  /** Claims up to `count` due jobs for this process and commits. */
  claim(count: number): Promise<Job[]>;
  /** Runs the job and settles it. `stopping` fires when the shutdown timeout is over, or on `interrupt`. */
  run(job: Job, stopping: AbortSignal): Promise<RunResult>;
  concurrency: number;
  /** Fallback for missed signals and timers: the longest time that due work stays unnoticed. */
  pollMs: number;
  onError(error: unknown): void;
};

export type WorkQueue<Job = unknown> = {
  wake(): void;
  /** Runs a job that this process holds without having claimed it. */
  add(job: Job): void;
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
  const { claim, run, concurrency, pollMs, onError } = options;
  // Half of the slots per claim, so that some jobs are claimed while others run. With full claims this process and the database
  // wait for each other, and a worker did 2,750 orders a second instead of 3,450.
  const maxPerClaim = Math.ceil(concurrency / 2);
  const running = new Set<Promise<void>>();
  let stopping = new AbortController();
  const { wake, rest } = createWaker();
  let stopped = false;

  async function start(job: Job): Promise<void> {
    try {
      const result = await run(job, stopping.signal);
      const againInMs = result?.againInMs ?? Number.POSITIVE_INFINITY;
      if (againInMs <= maxTimerMs) setTimeout(wake, againInMs).unref(); // the poll finds later jobs
    } catch (error) {
      onError(error);
    }
  }

  function begin(job: Job): void {
    const done = start(job).finally(() => {
      running.delete(done);
      wake();
    });
    running.add(done);
  }

  async function loop(): Promise<void> {
    while (!stopped) {
      const count = Math.min(concurrency - running.size, maxPerClaim);
      if (count > 0) {
        const jobs = await claim(count).catch((error: unknown) => {
          onError(error);
          return [];
        });
        for (const job of jobs) begin(job);
        if (jobs.length === count) wake(); // there may be more
      }
      await rest(pollMs);
    }
  }

  const looping = loop();
  return {
    wake,
    add: begin,
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
