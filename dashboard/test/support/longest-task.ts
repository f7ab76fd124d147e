import type { Browser, Page } from 'playwright-core';

/** Times are in microseconds; `tts` is the CPU time of the event's thread so far. */
type TraceEvent = {
  name: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  tts?: number;
  args: { name?: string };
};

const marks = ['walk begins', 'walk has ended'] as const;

/**
 * The longest task on the page's main thread during the walk, in milliseconds of CPU time: elapsed time, which a
 * PerformanceObserver reports, grows on a busy machine.
 */
export async function longestTask(browser: Browser, page: Page, walk: () => Promise<void>): Promise<number> {
  const mark = (name: string) => page.evaluate((name) => void performance.mark(name), name);
  await browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] });
  let trace: Buffer;
  try {
    await mark(marks[0]);
    await walk();
    await mark(marks[1]);
  } finally {
    trace = await browser.stopTracing();
  }
  return longestIn((JSON.parse(String(trace)) as { traceEvents: TraceEvent[] }).traceEvents);
}

/**
 * A task lasts until the next one begins. Its own event is too short: promises that it resolves go on after that event, and they
 * do most of the work here.
 */
function longestIn(events: TraceEvent[]): number {
  const [first, last] = marks.map((mark) => events.find(({ name }) => name === mark));
  if (!first || !last) throw new Error('the trace is not complete');
  const tasks = events
    .filter(({ name, pid, tid, ts }) => {
      const isMain = pid === first.pid && tid === first.tid;
      return isMain && name === 'ThreadControllerImpl::RunTask' && ts > first.ts && ts < last.ts;
    })
    .sort((a, b) => a.ts - b.ts);
  let endsAt = 0;
  const starts: number[] = [];
  for (const { ts, dur = 0, tts } of tasks) {
    // Part of the task before, or, now and then, without a CPU time: then it counts as part of it.
    if (ts < endsAt || tts === undefined) continue;
    endsAt = ts + dur;
    starts.push(tts);
  }
  if (starts.length < 2) throw new Error('the trace has no CPU times');
  const lengths = starts.slice(1).map((tts, index) => tts - (starts[index] ?? 0));
  return Math.max(...lengths) / 1_000;
}
