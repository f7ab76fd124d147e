import { invalid } from '../app-error.ts';

type Query = { from?: number; until?: number };
type Grid = {
  stepMs: number;
  /** Steps of the window if the query gives no `from`. */
  defaultSteps: number;
  maxSteps: number;
  /** What a step is called. */
  unit: string;
};

/** The window of `from` and `until` (default: now), widened to whole steps of UTC; by default `defaultSteps` of them, the last one begun. Refuses one that is empty or too long. */
export function timeWindowOf({ from, until }: Query, nowMs: number, grid: Grid): { from: Date; until: Date } {
  const { stepMs, defaultSteps, maxSteps, unit } = grid;
  const endMs = until === undefined ? nowMs : until * 1000;
  const untilMs = Math.ceil(endMs / stepMs) * stepMs;
  const startMs = from === undefined ? Math.max(0, untilMs - defaultSteps * stepMs) : from * 1000;
  if (startMs >= endMs) {
    throw invalid('from', 'from must be before until, which defaults to now.');
  }
  const fromMs = Math.floor(startMs / stepMs) * stepMs;
  if (untilMs - fromMs > maxSteps * stepMs) {
    const message = `There may be at most ${maxSteps} ${unit} between from and until. Send a later from, or an earlier until.`;
    throw invalid('from', message);
  }
  return { from: new Date(fromMs), until: new Date(untilMs) };
}
