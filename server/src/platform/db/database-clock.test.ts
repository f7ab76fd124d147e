import { expect, test } from 'vitest';
import { createDatabaseClock } from './database-clock.ts';

const startMs = 1_800_000_000_000;

/** A process and a PostgreSQL, `aheadMs` ahead of the process's monotonic clock. */
function start() {
  const state = { nowMs: 5_000, aheadMs: startMs };
  const clock = createDatabaseClock(() => state.nowMs);
  return {
    state,
    clock,
    databaseMs: () => state.nowMs + state.aheadMs,
    measure: (thereMs: number, backMs: number) =>
      clock.measure(async () => {
        state.nowMs += thereMs;
        const databaseMs = state.nowMs + state.aheadMs;
        state.nowMs += backMs;
        return databaseMs;
      }),
  };
}

test('there is no time before the first measurement', () => {
  expect(() => start().clock.nowMs()).toThrow('has not been measured');
});

test('the time is never ahead of the database’s, and behind by no more than the fastest answer took', async () => {
  const { clock, measure, databaseMs, state } = start();
  await measure(30, 40);
  expect(databaseMs() - clock.nowMs()).toBe(40);
  await measure(1, 2);
  expect(databaseMs() - clock.nowMs()).toBe(2);
  await measure(0, 5_000);
  state.nowMs += 3_600_000;
  expect(databaseMs() - clock.nowMs()).toBe(2);
});

test('it follows the database’s clock in both directions, also by a slow answer', async () => {
  const { clock, measure, databaseMs, state } = start();
  await measure(1, 1);
  for (const stepMs of [-86_400_000, 86_400_000, 3_000, -3_000]) {
    state.aheadMs += stepMs;
    await measure(400, 400);
    expect(Math.abs(databaseMs() - clock.nowMs())).toBeLessThanOrEqual(400);
  }
});

test('the time is a whole number of milliseconds, which ids are made from', async () => {
  const { clock, measure, state } = start();
  state.nowMs = 0.75;
  await measure(0.5, 0.5);
  expect(Number.isInteger(clock.nowMs())).toBe(true);
});
