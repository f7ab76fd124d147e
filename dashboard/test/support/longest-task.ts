import type { Browser, Page } from 'playwright-core';

type TraceEvent = { name: string; pid: number; tid: number; tdur?: number; args: { name?: string } };

/**
 * The CPU time of the longest task on the page's main thread during the walk, in milliseconds. A PerformanceObserver would
 * report elapsed time, which grows on a busy machine; the trace has the time that the thread itself ran.
 */
export async function longestTask(browser: Browser, page: Page, walk: () => Promise<void>): Promise<number> {
  await browser.startTracing(page, { categories: ['toplevel'] });
  let trace: Buffer;
  try {
    await walk();
  } finally {
    trace = await browser.stopTracing();
  }
  const { traceEvents } = JSON.parse(String(trace)) as { traceEvents: TraceEvent[] };
  const threadOf = ({ pid, tid }: TraceEvent) => `${pid}.${tid}`;
  const mains = traceEvents.filter(
    ({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain',
  );
  const isMain = new Set(mains.map(threadOf));
  const tasks = traceEvents
    .filter((event) => event.name === 'ThreadControllerImpl::RunTask' && isMain.has(threadOf(event)))
    .map(({ tdur = 0 }) => tdur / 1_000);
  if (!tasks.some((ms) => ms > 0)) throw new Error('the trace has no CPU times, so nothing was measured');
  return Math.max(...tasks);
}
