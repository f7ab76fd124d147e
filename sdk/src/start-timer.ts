// Above this, 25 days, timers fire at once.
const maxMs = 2 ** 31 - 1;

/** A timer for any time, also Infinity. */
export function startTimer(act: () => void, ms: number): ReturnType<typeof setTimeout> {
  return setTimeout(act, Math.min(ms, maxMs));
}
