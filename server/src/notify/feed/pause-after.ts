// In PostgreSQL, a pass costs 350 µs of CPU for one event, 12 µs per event for 32 and 5 for 128.
const longestMs = { awaited: 20, unawaited: 50 };

/**
 * How long the next pass waits for more events. If somebody waits for positions, a millisecond for each event that was found: a lone one
 * is seen at once, and many at a time still share a pass.
 */
export function pauseAfter(eventCount: number, isAwaited: boolean): number {
  return isAwaited ? Math.min(eventCount, longestMs.awaited) : longestMs.unawaited;
}
