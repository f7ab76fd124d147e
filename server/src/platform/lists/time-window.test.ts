import { expect, test } from 'vitest';
import { timeWindowOf } from './time-window.ts';

const hour = 3_600;
const grid = { stepMs: hour * 1_000, defaultSteps: 24, maxSteps: 48, unit: 'hours' };

/** The bounds in hours since 1970. */
function windowOf(query: { from?: number; until?: number }, nowHours = 1_000): number[] {
  const { from, until } = timeWindowOf(query, nowHours * hour * 1_000, grid);
  return [from, until].map((at) => at.getTime() / 1_000 / hour);
}

test('without bounds, a window ends with the step that has begun', () => {
  expect(windowOf({}, 1_000)).toEqual([976, 1_000]);
  expect(windowOf({}, 1_000.001)).toEqual([977, 1_001]);
  expect(windowOf({ until: 500 * hour })).toEqual([476, 500]);
  // Nothing is before 1970.
  expect(windowOf({ until: 3 * hour })).toEqual([0, 3]);
});

test('a window is widened to whole steps at both ends', () => {
  expect(windowOf({ from: 500 * hour + 1, until: 501 * hour + 1 })).toEqual([500, 502]);
  expect(windowOf({ from: 500 * hour, until: 501 * hour })).toEqual([500, 501]);
  expect(windowOf({ from: 999.5 * hour })).toEqual([999, 1_000]);
});

test('a window has at least a moment, and as many steps as are allowed', () => {
  const refusal = { code: 'parameter_invalid', param: 'from' };
  const refused = (query: object) => {
    try {
      return windowOf(query);
    } catch (error) {
      return error;
    }
  };
  expect(refused({ from: 500 * hour, until: 500 * hour })).toMatchObject(refusal);
  expect(refused({ from: 1_000 * hour })).toMatchObject(refusal);
  expect(windowOf({ from: 500 * hour, until: 500 * hour + 1 })).toEqual([500, 501]);
  expect(windowOf({ from: 452 * hour, until: 500 * hour })).toEqual([452, 500]);
  expect(refused({ from: 452 * hour - 1, until: 500 * hour })).toMatchObject(refusal);
  expect(refused({ from: 452.5 * hour, until: 500.25 * hour })).toMatchObject(refusal);
  expect(refused({ from: 452 * hour, until: 500 * hour + 1 })).toMatchObject({
    ...refusal,
    message: 'There may be at most 48 hours between from and until. Send a later from, or an earlier until.',
  });
});
