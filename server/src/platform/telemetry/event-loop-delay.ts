import { monitorEventLoopDelay } from 'node:perf_hooks';

// Node looks at its clock so often. A look wakes up a process at rest: with one every 20 ms, that was most of its CPU (16 ms a second
// instead of 6).
const lookMs = 100;

/** Returns a function that reads by how much the event loop was late since the last call, in seconds (99th percentile). */
export function watchEventLoopDelay(): () => number {
  const delay = monitorEventLoopDelay({ resolution: lookMs });
  delay.enable();
  return () => {
    const betweenLooksMs = delay.percentile(99) / 1e6;
    delay.reset();
    return lateSeconds(betweenLooksMs);
  };
}

export function lateSeconds(betweenLooksMs: number): number {
  return Math.max(0, betweenLooksMs - lookMs) / 1_000;
}
